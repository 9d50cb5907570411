/** Compares texts by lines. Runs in a thread, because the time grows with the square of the differences. */
import { parentPort, workerData } from 'node:worker_threads'
import { FILE_HEADERS_ONLY, formatPatch, structuredPatch } from 'diff'
import type { LineDiff, TextPair } from './line-diffs.ts'

/** Time for one pair. */
const timeout = 1_000
const context = 3

const pairs = workerData as readonly TextPair[]

for (const [index, { before, after, name }] of pairs.entries()) {
  const from = before === null ? '/dev/null' : `a/${name}`
  const to = after === null ? '/dev/null' : `b/${name}`
  const patch = structuredPatch(from, to, before ?? '', after ?? '', undefined, undefined, {
    context,
    timeout,
  })
  if (!patch) continue
  const lines = patch.hunks.flatMap((hunk) => hunk.lines)
  parentPort?.postMessage({
    index,
    text: formatPatch(patch, FILE_HEADERS_ONLY),
    added: lines.filter((line) => line.startsWith('+')).length,
    removed: lines.filter((line) => line.startsWith('-')).length,
  } satisfies LineDiff)
}
