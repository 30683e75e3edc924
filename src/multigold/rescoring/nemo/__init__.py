"""The voice-agent evaluation's runs: its hash, its rates, and its verdict beside ours."""
