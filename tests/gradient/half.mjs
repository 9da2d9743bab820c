// float16 as the 16 bits of a Uint16Array and back, rounding to nearest even. (JavaScript's own type is too new.)
const word = new Float32Array(1), bits = new Uint32Array(word.buffer);

export function toHalf(x) {
  word[0] = x;
  const sign = (bits[0] >>> 16) & 0x8000, size = Math.abs(word[0]);
  if (Number.isNaN(size)) return 0x7e00;
  if (size >= 65520) return sign | 0x7c00;
  // The distance of neighbours: 2^-24 below the normal numbers, then 2^(exponent - 10).
  const exponent = Math.max(Math.floor(Math.log2(size || 2 ** -30)), -14), unit = 2 ** (exponent - 10);
  const steps = size / unit, low = Math.floor(steps), rest = steps - low;
  const count = rest > 0.5 || (rest === 0.5 && low % 2) ? low + 1 : low;
  return sign | (exponent === -14 ? count : ((exponent + 14) << 10) + count);
}

export function fromHalf(h) {
  const sign = h & 0x8000 ? -1 : 1, exponent = (h >> 10) & 31, rest = h & 1023;
  if (exponent === 31) return rest ? NaN : sign * Infinity;
  return sign * (exponent ? (1 + rest / 1024) * 2 ** (exponent - 15) : rest * 2 ** -24);
}
