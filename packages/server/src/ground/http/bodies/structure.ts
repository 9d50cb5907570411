/** Checks the structure of a body before it is parsed. */
import { JsonStructureError, jsonStructureCheck } from '@steward/base/json-structure.ts'
import { invalid } from '../../core/errors.ts'
import type { BodyLimits } from '../limits.ts'
import { mostAround } from '../limits.ts'

/** Takes a body piece by piece and returns the number of its values so far. Throws as soon as it exceeds a limit. */
export function structureCheck({ values, escapes }: BodyLimits): (piece: Uint8Array) => number {
  const check = jsonStructureCheck({ values, escapes, around: mostAround })
  return (piece) => {
    try {
      return check(piece)
    } catch (error) {
      throw error instanceof JsonStructureError ? invalid(`the body ${error.message}`) : error
    }
  }
}
