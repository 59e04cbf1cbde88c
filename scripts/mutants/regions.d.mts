/** A part of a source. */
export interface Region {
  readonly id: number
  readonly start: number
  readonly end: number
}

export const instrument: (
  file: string,
  text: string,
  first: number
) => { readonly regions: ReadonlyArray<Region>; readonly text: string }
export const regionOf: (
  regions: ReadonlyArray<Region>,
  place: { readonly start: number; readonly end: number }
) => Region
