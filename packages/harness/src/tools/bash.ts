import type { Sandbox, ShellCommand } from '@steward/sandbox/sandbox.ts'
import { z } from 'zod'
import type { ToolEgress } from './egress.ts'
import { reasonOf, refusalIn } from './egress.ts'
import { describeOutput } from './output.ts'
import { simpleCommand } from './simple-command.ts'
import type { SandboxResult, SandboxTool } from './tool.ts'
import { textResult } from './tool.ts'

const defaultTimeoutMs = 120_000
const longestTimeoutMs = 600_000
const Input = z.object({
  command: z.string().optional(),
  restart: z.boolean().optional(),
  timeout_ms: z.number().optional(),
})

/** The same object in all sessions: a schema is compiled once. */
const inputSchema = {
  type: 'object',
  properties: {
    command: { type: 'string', description: 'the command' },
    restart: {
      type: 'boolean',
      description: 'begin with a fresh shell; alone, without a command',
    },
    timeout_ms: { type: 'integer', minimum: 1, maximum: longestTimeoutMs },
  },
}

/** One shell for the session: directory, variables and functions carry over. [tools/bash] */
export const bashTool = (commandSecrets: ToolEgress['commandSecrets']): SandboxTool => ({
  name: 'bash',
  description:
    "Runs a command in the session's bash shell and returns what it wrote. The working directory, variables and functions carry over to the next command. " +
    'Commands have no input and end after timeout_ms (two minutes unless given). `restart: true` ends everything that still runs and begins afresh.',
  input_schema: inputSchema,
  repeat: 'never',
  async run(sandbox, input, signal, output) {
    const { command, restart, timeout_ms = defaultTimeoutMs } = Input.parse(input)
    if (restart) {
      await sandbox.restartShell()
      if (command === undefined) return textResult('the shell was restarted')
    }
    if (command === undefined) return textResult('give a command, or restart: true', true)
    const given = { command, timeoutMs: timeout_ms, signal, output }
    const words = simpleCommand(command)
    if (words === undefined) return runShell(sandbox, given)
    let secretEnv: Record<string, string>
    try {
      secretEnv = await commandSecrets(words)
    } catch (error) {
      if (!refusalIn(error)) throw error
      return textResult(`nothing was run: ${reasonOf(error)}`, true)
    }
    const isPlain = Object.keys(secretEnv).length === 0
    return runShell(sandbox, isPlain ? given : { ...given, secretEnv })
  },
})

/** The output of a command and how it ended. */
export async function runShell(sandbox: Sandbox, command: ShellCommand): Promise<SandboxResult> {
  const result = await sandbox.shell(command)
  const { text, ...rest } = describeOutput(result)
  if (result.ended === 'exit') {
    const isError = result.exitCode !== 0
    if (!isError) return { ...textResult(text || '(no output)'), ...rest }
    const code = `exit ${result.exitCode}`
    const said = text === '' ? code : `${text}${lineEnd(text)}[${code}]`
    return { ...textResult(said, true), ...rest }
  }
  // Ends background processes of the command as well. A killed shell has no state to continue from.
  await sandbox.restartShell()
  const why = result.ended === 'timeout' ? `stopped after ${command.timeoutMs} ms` : 'interrupted'
  const note = `[${why}; everything that ran was ended, and the next command begins in a fresh shell]`
  return { ...textResult(text + lineEnd(text) + note, true), ...rest }
}

const lineEnd = (text: string): string => (text === '' || text.endsWith('\n') ? '' : '\n')
