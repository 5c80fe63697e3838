// Vectors of floats from elements of 16 bits.
#pragma once

#include "elements-inl.hpp"

namespace ricci::kernels::RICCI_ISA {

#ifdef RICCI_GENERIC_VECTOR_BYTES

template <class S> RICCI_INLINE vec<float> load_each(const S* p, int count) {
  vec<float> v{};
  for (int i = 0; i < count; ++i) v[i] = widen(p[i]);
  return v;
}
template <class S> RICCI_INLINE vec<float> load_narrow(const S* p) { return load_each(p, width<float>); }
template <class S> RICCI_INLINE vec<float> load_narrow(const S* p, const tail<float>& t) { return load_each(p, t.count); }

#else

using narrow_tag = hn::Rebind<std::uint16_t, tag<float>>;

RICCI_INLINE vec<float> widened(hn::Vec<narrow_tag> v, bf16) {
  return hn::BitCast(tag<float>(), hn::ShiftLeft<16>(hn::PromoteTo(hn::RebindToUnsigned<tag<float>>(), v)));
}

RICCI_INLINE vec<float> widened(hn::Vec<narrow_tag> v, f16) {
#if defined(__F16C__) || defined(__aarch64__)
  return hn::PromoteTo(tag<float>(), hn::BitCast(hn::Rebind<hwy::float16_t, tag<float>>(), v));
#else  // as the moves convert, infinity and NaN included
  f16 given[width<float>];
  float made[width<float>];
  hn::StoreU(v, narrow_tag(), reinterpret_cast<std::uint16_t*>(given));
  for (int i = 0; i < width<float>; ++i) made[i] = widen(given[i]);
  return load(made);
#endif
}

template <class S> RICCI_INLINE vec<float> load_narrow(const S* p) {
  return widened(hn::LoadU(narrow_tag(), reinterpret_cast<const std::uint16_t*>(p)), S{});
}
template <class S> RICCI_INLINE vec<float> load_narrow(const S* p, const tail<float>& t) {
#if HWY_MAX_BYTES >= 64
  const narrow_tag d;
  return widened(hn::MaskedLoad(hn::FirstN(d, static_cast<size_t>(t.count)), d, reinterpret_cast<const std::uint16_t*>(p)), S{});
#else  // no masked loads of 16 bits
  S held[width<float>] = {};
  for (int i = 0; i < t.count; ++i) held[i] = p[i];
  return load_narrow(held);
#endif
}

#endif

/// A vector of T from memory of S, whole or, with a tail, its first lanes.
template <class T, class S, class... Tail> RICCI_INLINE vec<T> load_as(const S* p, const Tail&... t) {
  if constexpr (same<T, S>) return load(p, t...);
  else return load_narrow(p, t...);
}

}  // namespace ricci::kernels::RICCI_ISA
