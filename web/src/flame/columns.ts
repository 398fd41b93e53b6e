/** A column of numbers; what is read from it is within its bounds. */
export type Column = Int32Array | Float64Array | Uint16Array | Uint8Array | number[];

export function at(column: Column, index: number): number {
  return column[index] as number;
}
