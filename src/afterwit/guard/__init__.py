"""What untrusted text may not do: loop, command, smuggle, or say what the evidence does not hold."""
