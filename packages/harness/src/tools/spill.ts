/** Writes results that are too long for the model into a file in the sandbox. The model gets both ends and the path. */
import { randomUUID } from 'node:crypto'
import { withoutHostPaths } from '@steward/sandbox/host-paths.ts'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'
import { SandboxEnded } from '@steward/sandbox/sandbox.ts'
import type { SandboxResult, SandboxTool, Tool, ToolResult } from './tool.ts'
import { textResult } from './tool.ts'

/** Characters of one result. [tools/result/spilled] */
const mostCharacters = 100_000
const shownCharacters = 4_000
/** A folder in the working folder, so that the files outlive the sandbox. */
const folder = '/workspace/.steward'
export const resultsFolder = `${folder}/results`
/** Files that hide stored results from the session's searches and commits. */
const markers = ['.ignore', '.gitignore']

/** Runs a tool in the session's sandbox. A sandbox that has ended becomes a result that says so. */
export function bindToSandbox(tool: SandboxTool, open: () => Promise<Sandbox>): Tool['run'] {
  return async (input, { signal, output }) => {
    let sandbox: Sandbox | undefined
    try {
      sandbox = await unlessAborted(open(), signal)
      if (!sandbox)
        return textResult('interrupted while the sandbox was starting; nothing was run', true)
      const result = await tool.run(sandbox, input, signal, output)
      return isTooLong(result) ? await shortened(sandbox, result) : shown(result)
    } catch (error) {
      if (!(error instanceof SandboxEnded)) throw error
      const what = sandbox
        ? 'the sandbox ended while this ran, perhaps in part'
        : 'the sandbox did not start; nothing was run'
      return textResult(`${what}: ${withoutHostPaths(error.message)}`, true)
    }
  }
}

/** An abort ends the wait; `coming` continues for other waiters. */
async function unlessAborted<T>(coming: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  const { promise: aborted, resolve } = Promise.withResolvers<undefined>()
  const abort = () => resolve(undefined)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([coming, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/**
 * Limits the result of a tool that runs outside of the sandbox. A sandbox is needed only for a result that is too long;
 * without one the result is cut.
 */
export async function boundResult(
  result: ToolResult,
  open: () => Promise<Sandbox>,
): Promise<ToolResult> {
  if (!isTooLong(result)) return result
  try {
    return await shortened(await open(), result)
  } catch (error) {
    if (!(error instanceof SandboxEnded)) throw error
    return preview(result, `the whole could not be kept: ${withoutHostPaths(error.message)}`)
  }
}

const textOf = ({ content }: ToolResult): string =>
  content.flatMap((block) => (block.type === 'text' ? block.text : [])).join('\n')
const isTooLong = (result: ToolResult): boolean => textOf(result).length > mostCharacters
const shown = ({ content, is_error }: ToolResult): ToolResult => ({ content, is_error })

async function shortened(sandbox: Sandbox, result: SandboxResult): Promise<ToolResult> {
  return preview(result, await keep(sandbox, textOf(result), result.whole))
}

function preview(result: ToolResult, where: string): ToolResult {
  const text = textOf(result)
  const left = text.length - 2 * shownCharacters
  const parts = [
    text.slice(0, shownCharacters).toWellFormed(),
    `[… ${left} characters left out …]`,
    text.slice(-shownCharacters).toWellFormed(),
    `[shortened; ${where}]`,
  ]
  const others = result.content.filter((block) => block.type !== 'text')
  const content = [{ type: 'text' as const, text: parts.join('\n\n') }, ...others]
  return { content, is_error: result.is_error }
}

async function keep(sandbox: Sandbox, text: string, whole: string | undefined): Promise<string> {
  if (whole !== undefined) return `the whole is in ${whole}`
  const path = `${resultsFolder}/${randomUUID()}.txt`
  for (const marker of markers) await sandbox.write(`${folder}/${marker}`, Buffer.from('*\n'))
  const written = await sandbox.write(path, Buffer.from(text))
  return written.ok ? `the whole is in ${path}` : `the whole could not be kept: ${written.message}`
}
