"""Remedies carried out with the kernel's TCP in the emulator."""
