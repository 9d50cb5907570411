/** What is too long for the model is written whole into the sandbox; the model gets its ends and the path. */
import { randomUUID } from 'node:crypto'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'
import { SandboxEnded } from '@steward/sandbox/sandbox.ts'
import type { SandboxResult, SandboxTool, Tool, ToolResult } from './tool.ts'
import { textResult } from './tool.ts'

/** Characters of one result. behaviours.md 1.2 */
const mostCharacters = 100_000
const shownCharacters = 4_000
/** In the workspace, so that it is still there when the sandbox was stopped in between. */
const folder = '/workspace/.steward'
export const resultsFolder = `${folder}/results`
/** Neither searches nor commits of the session come upon what was put aside. */
const markers = ['.ignore', '.gitignore']

/** Runs a tool in the session's sandbox; a sandbox that is gone is a result that says so. */
export function spilling(tool: SandboxTool, open: () => Promise<Sandbox>): Tool['run'] {
  return async (input, { signal }) => {
    let sandbox: Sandbox | undefined
    try {
      sandbox = await open()
      return await bounded(sandbox, await tool.run(sandbox, input, signal))
    } catch (error) {
      if (!(error instanceof SandboxEnded)) throw error
      const what = sandbox
        ? 'the sandbox ended while this ran, perhaps in part'
        : 'the sandbox did not start; nothing was run'
      return textResult(`${what}: ${error.message}`, true)
    }
  }
}

async function bounded(sandbox: Sandbox, result: SandboxResult): Promise<ToolResult> {
  const { content, is_error, whole } = result
  const text = content.flatMap((block) => (block.type === 'text' ? block.text : [])).join('\n')
  if (text.length <= mostCharacters) return { content, is_error }
  const left = text.length - 2 * shownCharacters
  const preview = [
    text.slice(0, shownCharacters).toWellFormed(),
    `[… ${left} characters left out …]`,
    text.slice(-shownCharacters).toWellFormed(),
    `[shortened; ${await keep(sandbox, text, whole)}]`,
  ]
  const others = content.filter((block) => block.type !== 'text')
  return { content: [{ type: 'text', text: preview.join('\n\n') }, ...others], is_error }
}

async function keep(sandbox: Sandbox, text: string, whole: string | undefined): Promise<string> {
  if (whole !== undefined) return `the whole is in ${whole}`
  const path = `${resultsFolder}/${randomUUID()}.txt`
  for (const marker of markers) await sandbox.write(`${folder}/${marker}`, Buffer.from('*\n'))
  const written = await sandbox.write(path, Buffer.from(text))
  return written.ok ? `the whole is in ${path}` : `the whole could not be kept: ${written.message}`
}
