/** Columns of JSON: written and read here alone, so that a column's type says what its text holds. */

declare const holds: unique symbol

/** The JSON text of a `T`. Only `toJson` makes one, and only rows bring one back. */
export type Json<T> = string & { readonly [holds]: T }

export const toJson = <T>(value: T): Json<T> => JSON.stringify(value) as Json<T>

export function fromJson<T>(text: Json<T>): T
export function fromJson<T>(text: Json<T> | null): T | null
export function fromJson<T>(text: Json<T> | null): T | null {
  return text === null ? null : (JSON.parse(text) as T)
}
