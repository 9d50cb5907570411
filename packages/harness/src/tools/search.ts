import { matchesGlob } from 'node:path'
import { z } from 'zod'
import { confined, failed } from './files.ts'
import type { SandboxTool } from './tool.ts'
import { textResult } from './tool.ts'

/** contract.md 4.7, behaviours.md 1.2 */
const mostPaths = 200
const mostEntries = 50_000
const searchTimeoutMs = 60_000

const Input = z.object({ pattern: z.string().min(1), path: z.string().optional() })
const schema = (what: string) => ({
  type: 'object',
  properties: {
    pattern: { type: 'string', minLength: 1, description: what },
    path: { type: 'string', description: 'where to look; /workspace unless given' },
  },
  required: ['pattern'],
})

export const globTool: SandboxTool = {
  name: 'glob',
  description:
    'Finds files by a relative pattern such as **/*.ts, newest first, at most 200. Skips .git and node_modules.',
  input_schema: schema('a relative glob pattern, without ..'),
  repeat: 'safe',
  async run(sandbox, input) {
    const { pattern, path = '/workspace' } = Input.parse(input)
    if (pattern.startsWith('/') || pattern.split('/').includes('..')) {
      return textResult(
        'the pattern must be relative and without ..; say where to look with path',
        true,
      )
    }
    const place = confined(path)
    if ('refused' in place) return place.refused
    const walk = await sandbox.walk(place.path, mostEntries)
    if (!walk.ok) return failed(path, walk)
    const found = walk.files
      .filter((file) => matchesGlob(file.path.slice(place.path.length + 1), pattern))
      .toSorted((a, b) => b.mtimeMs - a.mtimeMs)
    const notes = [
      ...(found.length > mostPaths ? [`[the newest ${mostPaths} of ${found.length}]`] : []),
      ...(walk.complete ? [] : [`[looked at ${mostEntries} entries and no further]`]),
    ]
    const paths = found.slice(0, mostPaths).map((file) => file.path)
    return textResult([...(paths.length > 0 ? paths : ['no matches']), ...notes].join('\n'))
  },
}

export const grepTool: SandboxTool = {
  name: 'grep',
  description:
    'Searches the contents of files with a regular expression and returns matching lines with path and line number.',
  input_schema: schema('a regular expression, as ripgrep takes it'),
  repeat: 'safe',
  async run(sandbox, input, signal) {
    const { pattern, path = '/workspace' } = Input.parse(input)
    const place = confined(path)
    if ('refused' in place) return place.refused
    const { output, bytes, spilled, ended, exitCode } = await sandbox.search({
      pattern,
      path: place.path,
      timeoutMs: searchTimeoutMs,
      signal,
    })
    if (ended === 'aborted') return textResult('interrupted', true)
    if (ended === 'timeout') return textResult(`${output}\n[ended after a minute]`, true)
    if (exitCode === 1 && output === '') return textResult('no matches')
    if (exitCode !== 0 && exitCode !== 1) return textResult(output || `exit ${exitCode}`, true)
    return textResult(
      spilled || bytes > output.length * 4 ? `${output}\n[cut; ${bytes} bytes in all]` : output,
    )
  },
}
