"""Whose readings these are: people judge them blind, twice, and everything that they said is kept.

    results + catalogue -> items (what is asked) -> one file of answers per annotator -> agreement -> adjudication

An *item* asks of one run and one reading: is what this run did right, if the policy is read this way? It names the
task, the clauses by their place in the policy, the loophole's question and what the run did, and neither the agent, nor
what multigold says of the run, nor what anyone else answered. Items are drawn once, from a seed, and have a digest; a
file of answers names the digest of the items that it answers, who answered and when, and of each item the digest of the
text that was judged. So answers to another text are told from answers to this one.

A model can fill in a file as a person can. Its answers are *proposals*: they are kept with what made them, and count
neither in agreement nor in any rate, until a person has answered.
"""
