/* The module of libxsmm is its archive and nothing else. */
typedef int ricci_peer_xsmm_is_an_archive;
