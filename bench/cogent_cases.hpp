// Contractions that the COGENT artifact (CGO 2019) measures: sizes of the TCCG collection and NWChem's CCSD(T) kernels.
#pragma once

namespace bench {

/// Row-major einsum strings. `extents`: of the labels a, b, c, ...
struct contraction_case {
  const char* name;
  const char* einsum;
  const char* extents;
};

inline constexpr contraction_case cogent_cases[] = {
    {"tccg48/002", "acd,db->cba", "a=312 b=24 c=296 d=312"},
    {"tccg48/003", "aebd,ce->dcba", "a=72 b=72 c=24 d=72 e=72"},
    {"tccg48/006", "dabfe,fc->edcba", "a=48 b=32 c=24 d=32 e=48 f=32"},
    {"tccg48/008", "dacfe,fb->edcba", "a=48 b=24 c=32 d=32 e=48 f=32"},
    {"tccg48/009", "ae,dcbe->dcba", "a=72 b=72 c=72 d=72 e=72"},
    {"tccg48/010", "be,dcea->dcba", "a=72 b=72 c=72 d=72 e=72"},
    {"tccg48/011", "ce,deba->dcba", "a=72 b=72 c=72 d=72 e=72"},
    {"tccg48/012", "ca,bc->ba", "a=5136 b=5120 c=5136"},
    {"tccg48/014", "dac,bcd->ba", "a=312 b=296 c=312 d=312"},
    {"tccg48/015", "dca,bd->cba", "a=312 b=296 c=296 d=312"},
    {"tccg48/016", "da,cdb->cba", "a=312 b=312 c=296 d=296"},
    {"tccg48/017", "cda,db->cba", "a=312 b=312 c=296 d=296"},
    {"tccg48/018", "cda,bd->cba", "a=312 b=296 c=296 d=312"},
    {"tccg48/019", "ceda,dbe->cba", "a=72 b=72 c=72 d=72 e=72"},
    {"tccg48/021", "fbea,cedf->dcba", "a=72 b=72 c=72 d=72 e=72 f=72"},
    {"tccg48/025", "fdea,cebf->dcba", "a=72 b=72 c=72 d=72 e=72 f=72"},
    {"tccg48/026", "bfea,ecdf->dcba", "a=72 b=72 c=72 d=72 e=72 f=72"},
    {"tccg48/028", "bfae,cedf->dcba", "a=72 b=72 c=72 d=72 e=72 f=72"},
    {"tccg48/029", "cfae,edfb->dcba", "a=72 b=72 c=72 d=72 e=72 f=72"},
    {"tccg48/030", "dfae,cebf->dcba", "a=72 b=72 c=72 d=72 e=72 f=72"},
    {"tccg48/031", "aged,cbfg->fedcba", "a=24 b=16 c=16 d=24 e=16 f=16 g=24"},
    {"tccg48/032", "bged,cafg->fedcba", "a=24 b=16 c=16 d=24 e=16 f=16 g=24"},
    {"tccg48/033", "cged,bafg->fedcba", "a=24 b=16 c=16 d=24 e=16 f=16 g=24"},
    {"tccg48/035", "bgfd,caeg->fedcba", "a=24 b=16 c=16 d=24 e=16 f=16 g=24"},
    {"tccg48/036", "cgfd,baeg->fedcba", "a=24 b=16 c=16 d=24 e=16 f=16 g=24"},
    {"tccg48/037", "agfe,cbdg->fedcba", "a=24 b=16 c=16 d=16 e=24 f=16 g=24"},
    {"tccg48/038", "bgfe,cadg->fedcba", "a=24 b=16 c=16 d=16 e=24 f=16 g=24"},
    {"tccg48/039", "cgfe,badg->fedcba", "a=24 b=16 c=16 d=16 e=24 f=16 g=24"},
    {"tccg48/040", "badg,cgfe->fedcba", "a=24 b=16 c=16 d=16 e=24 f=16 g=24"},
    {"tccg48/041", "cadg,bgfe->fedcba", "a=24 b=16 c=16 d=16 e=24 f=16 g=24"},
    {"tccg48/042", "cbdg,agfe->fedcba", "a=24 b=16 c=16 d=16 e=24 f=16 g=24"},
    {"tccg48/043", "baeg,cgfd->fedcba", "a=24 b=16 c=16 d=24 e=16 f=16 g=24"},
    {"tccg48/044", "caeg,bgfd->fedcba", "a=24 b=16 c=16 d=24 e=16 f=16 g=24"},
    {"tccg48/046", "bafg,cged->fedcba", "a=24 b=16 c=16 d=24 e=16 f=16 g=24"},
    {"tccg48/048", "cbfg,aged->fedcba", "a=24 b=16 c=16 d=24 e=16 f=16 g=24"},
    {"ccsd_t_sd1/001", "ibam,mcjk->abcijk", "a=16 b=16 c=16 i=16 j=16 k=16 m=16"},
    {"ccsd_t_sd1/002", "ibam,mcjk->abcjik", "a=16 b=16 c=16 i=16 j=16 k=16 m=16"},
    {"ccsd_t_sd1/003", "ibam,mcjk->abcjki", "a=16 b=16 c=16 i=16 j=16 k=16 m=16"},
    {"ccsd_t_sd1/004", "ibam,mcjk->cabijk", "a=16 b=16 c=16 i=16 j=16 k=16 m=16"},
    {"ccsd_t_sd1/005", "ibam,mcjk->cabjik", "a=16 b=16 c=16 i=16 j=16 k=16 m=16"},
    {"ccsd_t_sd1/007", "ibam,mcjk->acbijk", "a=16 b=16 c=16 i=16 j=16 k=16 m=16"},
    {"ccsd_t_sd1/008", "ibam,mcjk->acbjik", "a=16 b=16 c=16 i=16 j=16 k=16 m=16"},
    {"ccsd_t_sd1/009", "ibam,mcjk->acbjki", "a=16 b=16 c=16 i=16 j=16 k=16 m=16"},
    {"ccsd_t_sd2/003", "jiae,bcke->abcikj", "a=16 b=16 c=16 e=16 i=16 j=16 k=16"},
    {"ccsd_t_sd2/004", "jiae,bcke->bacijk", "a=16 b=16 c=16 e=16 i=16 j=16 k=16"},
    {"ccsd_t_sd2/005", "jiae,bcke->backij", "a=16 b=16 c=16 e=16 i=16 j=16 k=16"},
    {"ccsd_t_sd2/007", "jiae,bcke->bcaijk", "a=16 b=16 c=16 e=16 i=16 j=16 k=16"},
    {"ccsd_t_sd2/008", "jiae,bcke->bcakij", "a=16 b=16 c=16 e=16 i=16 j=16 k=16"},
    {"ccsd_t_sd2/009", "jiae,bcke->bcaikj", "a=16 b=16 c=16 e=16 i=16 j=16 k=16"},
};

}  // namespace bench
