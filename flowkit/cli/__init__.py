"""The command line: one file for each group of commands, imported only when one of them runs.

$ flowkit flow:run menuQA "What is vegan?"
"""
