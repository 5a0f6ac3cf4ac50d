"""ASOS Digital Experiments: does an early verdict on a running experiment stand when the experiment has ended?"""
