/** Hides the secrets of a command in its output. */
import { createMask } from '@steward/mask/mask.ts'
import type { MaskedText, OutputMask } from './output/piece.ts'
import type { ShellResult } from './sandbox.ts'

/** Hiding shorter values would hide more of the output than it protects. */
const leastLength = 4

/** The values, their lines, and the JSON spelling of both, the longest first, so that no value is hidden in part. */
function piecesOf(values: readonly string[]): string[] {
  const pieces = values
    .flatMap((value) => [value, ...value.split('\n')])
    .flatMap((piece) => [piece, JSON.stringify(piece).slice(1, -1)])
  return [...new Set(pieces)]
    .filter((piece) => piece.length >= leastLength)
    .toSorted((a, b) => b.length - a.length)
}

/** Length of the longest end of `piece` with which the text begins. */
function endAtStart(text: string, piece: string): number {
  let length = piece.length - 1
  while (length > 0 && !text.startsWith(piece.slice(-length))) length--
  return length
}

const maskWith = (values: readonly string[]) =>
  createMask(values.flatMap((value) => [value, ...value.split('\n')]))

/**
 * Replaces the values by asterisks of the same length: short values as they are and in JSON, others in every spelling
 * that a mask knows.
 */
export function hideSecrets(result: ShellResult, values: readonly string[]): ShellResult {
  const pieces = piecesOf(values)
  const masked = maskWith(values)
  let output = pieces.reduce(
    (text, piece) => text.replaceAll(piece, '*'.repeat(piece.length)),
    masked?.text(result.output) ?? result.output,
  )
  // The stored end of a cut output may begin within a value.
  if (result.bytes > Buffer.byteLength(result.output)) {
    const cut = Math.max(0, ...pieces.map((piece) => endAtStart(output, piece)))
    output = '*'.repeat(cut) + output.slice(cut)
  }
  return { ...result, output }
}

/** The end of the text that could be the beginning of a piece: where it begins. */
function startAtEnd(text: string, pieces: readonly string[]): number {
  const longest = Math.max(0, ...pieces.map(({ length }) => length - 1))
  for (let at = Math.max(0, text.length - longest); at < text.length; at++) {
    const end = text.slice(at)
    if (pieces.some((piece) => piece.length > end.length && piece.startsWith(end))) return at
  }
  return text.length
}

/** Masks an output that goes on as `hideSecrets` masks it at the end. */
export function outputMask(values: readonly string[]): OutputMask {
  // A character stands for a byte, so that lengths stay true.
  const pieces = piecesOf(values).map((piece) => Buffer.from(piece).toString('latin1'))
  const mask = maskWith(values)
  return (text): MaskedText => {
    const released = mask ? mask.filter().write(text) : text
    const shown = pieces.reduce(
      (all, piece) => all.replaceAll(piece, '*'.repeat(piece.length)),
      released.toString('latin1'),
    )
    return { bytes: Buffer.from(shown, 'latin1'), safe: startAtEnd(shown, pieces) }
  }
}
