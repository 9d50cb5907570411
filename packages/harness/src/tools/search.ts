import { setImmediate as otherWork } from 'node:timers/promises'
import type { FileStat } from '@steward/sandbox/sandbox.ts'
import { z } from 'zod'
import { globMatcher, splitGlob } from './glob.ts'
import { describeOutput } from './output.ts'
import { confinePath, fileFailure, isWithin, workingFolderPath } from './sandbox-paths.ts'
import { resultsFolder } from './spill.ts'
import type { SandboxTool } from './tool.ts'
import { textResult } from './tool.ts'

/** Paths of one `glob`, and time of one `grep`. [tools/glob] [tools/grep] */
const mostPaths = 200
const mostEntries = 50_000
const searchTimeoutMs = 60_000
const longestGlob = 1_000
/** Milliseconds of matching before other work of the process gets a turn, and of one `glob` in all. */
const [turnMs, longestMatchingMs] = [20, 2_000]

const Input = z.object({ pattern: z.string().min(1), path: z.string().optional() })
const schema = (what: string) => ({
  type: 'object',
  properties: {
    pattern: { type: 'string', minLength: 1, description: what },
    path: { type: 'string', description: `where to look; ${workingFolderPath} unless given` },
  },
  required: ['pattern'],
})

export const globTool: SandboxTool = {
  name: 'glob',
  description:
    'Finds files by a pattern such as **/*.ts, newest first, at most 200. Skips .git and node_modules.',
  input_schema: schema('a glob pattern, relative to path or absolute, without ..'),
  repeat: 'safe',
  async run(sandbox, input, signal) {
    const { pattern, path = workingFolderPath } = Input.parse(input)
    if (pattern.split('/').includes('..'))
      return textResult('the pattern must be without ..; say where to look with path', true)
    const { folder, rest } = splitGlob(pattern)
    const isMatch = rest.length > longestGlob ? undefined : globMatcher(rest)
    if (!isMatch) return textResult('the pattern is too long, or has too many alternatives', true)
    const resolved = confinePath(pattern.startsWith('/') ? folder || '/' : `${path}/${folder}`)
    if ('refused' in resolved) return resolved.refused
    const root = resolved.path
    const walk = await sandbox.walk(root, mostEntries)
    if (!walk.ok && folder !== '' && walk.code === 'not_found') return textResult('no matches')
    if (!walk.ok) return fileFailure(path, walk)
    // Stored results are left out, unless the search is for them.
    const isShown = ({ path: each }: FileStat) =>
      !isWithin(each, resultsFolder) || isWithin(root, resultsFolder)
    const matches = (file: FileStat) => isShown(file) && isMatch(file.path.slice(root.length + 1))
    const { found, isLate } = await matching(walk.files, matches, signal)
    if (signal.aborted) return textResult('interrupted', true)
    const cut = isLate ? tooSlow : walk.complete ? undefined : tooMany
    return textResult(listed(found, cut))
  },
}

/** `isLate`: true when the time was over before all files were looked at. Ends early after an abort. */
async function matching(
  files: readonly FileStat[],
  matches: (file: FileStat) => boolean,
  signal: AbortSignal,
): Promise<{ found: FileStat[]; isLate: boolean }> {
  const found: FileStat[] = []
  let [began, spentMs] = [performance.now(), 0]
  for (const file of files) {
    const ms = performance.now() - began
    if (ms > turnMs) {
      spentMs += ms
      if (signal.aborted || spentMs > longestMatchingMs) return { found, isLate: true }
      await otherWork()
      began = performance.now()
    }
    if (matches(file)) found.push(file)
  }
  return { found, isLate: false }
}

const tooMany = `[looked at ${mostEntries} entries and no further]`
const tooSlow = `[stopped after ${longestMatchingMs} ms of matching; give a simpler pattern, or a path further down]`

/** `cut`: the reason why not all files were looked at. */
function listed(found: readonly FileStat[], cut: string | undefined): string {
  const paths = found
    .toSorted((a, b) => b.mtimeMs - a.mtimeMs || (a.path < b.path ? -1 : 1))
    .slice(0, mostPaths)
    .map((file) => file.path)
  const notes = [
    ...(found.length > mostPaths ? [`[the newest ${mostPaths} of ${found.length}]`] : []),
    ...(cut === undefined ? [] : [cut]),
  ]
  return [...(paths.length > 0 ? paths : ['no matches']), ...notes].join('\n')
}

export const grepTool: SandboxTool = {
  name: 'grep',
  description:
    'Searches the contents of files with a regular expression and returns matching lines with path and line number.',
  input_schema: schema('a regular expression, as ripgrep takes it'),
  repeat: 'safe',
  async run(sandbox, input, signal, output) {
    const { pattern, path = workingFolderPath } = Input.parse(input)
    const resolved = confinePath(path)
    if ('refused' in resolved) return resolved.refused
    const options = { pattern, path: resolved.path, timeoutMs: searchTimeoutMs, signal, output }
    const result = await sandbox.search(options)
    const { text, ...rest } = describeOutput(result)
    switch (result.ended) {
      case 'aborted':
        return textResult('interrupted', true)
      case 'timeout':
        return { ...textResult(`${text}[stopped after ${searchTimeoutMs} ms]`, true), ...rest }
      case 'exit': {
        const { exitCode = 0 } = result
        if (exitCode === 1) return textResult('no matches')
        // ripgrep ends a last line as files of Windows do.
        const lines = text.replaceAll(/\r(?=\n|$)/g, '')
        return { ...textResult(lines || `exit ${exitCode}`, exitCode !== 0), ...rest }
      }
    }
  },
}
