// Nothing: the target of the headers that all tests share, see ricci_precompiled.
