/** What is too long for the model is written whole into the sandbox; the model gets its ends and the path. */
import { randomUUID } from 'node:crypto'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'
import { SandboxEnded } from '@steward/sandbox/sandbox.ts'
import type { SandboxTool, Tool, ToolResult } from './tool.ts'
import { textResult } from './tool.ts'

/** Characters of one result. behaviours.md 1.2 */
const mostCharacters = 100_000
const shownCharacters = 4_000
/** In the workspace, so that it is still there when the sandbox was stopped in between. */
const folder = '/workspace/.steward/results'

/** Runs a tool in the session's sandbox; a sandbox that is gone is a result that says so. */
export function spilling(tool: SandboxTool, open: () => Promise<Sandbox>): Tool['run'] {
  return async (input, { signal }) => {
    try {
      const sandbox = await open()
      return await bounded(sandbox, await tool.run(sandbox, input, signal))
    } catch (error) {
      if (!(error instanceof SandboxEnded)) throw error
      return textResult(`the sandbox is not there: ${error.message}`, true)
    }
  }
}

async function bounded(sandbox: Sandbox, result: ToolResult): Promise<ToolResult> {
  const text = result.content
    .flatMap((block) => (block.type === 'text' ? block.text : []))
    .join('\n')
  if (text.length <= mostCharacters) return result
  const path = `${folder}/${randomUUID()}.txt`
  const written = await sandbox.write(path, Buffer.from(text))
  const where = written.ok
    ? `the whole is in ${path}`
    : `the whole could not be kept: ${written.message}`
  const head = text.slice(0, shownCharacters)
  const tail = text.slice(-shownCharacters)
  const preview = `${head}\n\n[${text.length} characters; ${where}]\n\n${tail}`
  const others = result.content.filter((block) => block.type !== 'text')
  return { content: [{ type: 'text', text: preview }, ...others], is_error: result.is_error }
}
