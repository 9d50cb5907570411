import { z } from 'zod'
import type { SandboxTool } from './tool.ts'
import { textResult } from './tool.ts'

const defaultTimeoutMs = 120_000
const longestTimeoutMs = 600_000
const Input = z.object({
  command: z.string().optional(),
  restart: z.boolean().optional(),
  timeout_ms: z.number().optional(),
})

/** One shell for the session: directory, variables and functions carry over. contract.md 4.7 */
export const bashTool: SandboxTool = {
  name: 'bash',
  description:
    "Runs a command in the session's bash shell and returns what it wrote. The working directory, variables and functions carry over to the next command. " +
    'Commands have no input and end after timeout_ms (two minutes unless given). `restart: true` ends everything that still runs and begins afresh.',
  input_schema: {
    type: 'object',
    properties: {
      command: { type: 'string', description: 'the command' },
      restart: {
        type: 'boolean',
        description: 'begin with a fresh shell; alone, without a command',
      },
      timeout_ms: { type: 'integer', minimum: 1, maximum: longestTimeoutMs },
    },
  },
  repeat: 'never',
  async run(sandbox, input, signal) {
    const { command, restart, timeout_ms = defaultTimeoutMs } = Input.parse(input)
    if (restart) {
      await sandbox.restartShell()
      if (command === undefined) return textResult('the shell was restarted')
    }
    if (command === undefined) return textResult('give a command, or restart: true', true)
    const result = await sandbox.shell({ command, timeoutMs: timeout_ms, signal })
    const note = result.spilled
      ? `[the last ${result.output.length} of ${result.bytes} bytes; the whole is in ${result.spilled}]\n`
      : ''
    const text = note + result.output
    switch (result.ended) {
      case 'timeout':
        return textResult(
          `${text}\n[ended after ${timeout_ms} ms; the shell keeps its state]`.trimStart(),
          true,
        )
      case 'aborted':
        return textResult(`${text}\n[interrupted]`.trimStart(), true)
      case 'exit':
        if (result.exitCode === 0) return textResult(text || '(no output)')
        return textResult(text || `exit ${result.exitCode}`, true)
    }
  },
}
