"""Frequent itemsets of disguised transactions and tables."""
