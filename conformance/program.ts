/** Runs a program from a page of the docs as a reader does: Node, the base URL and a key. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { ServiceClients } from './service.ts'
import { adminKey } from './service.ts'

export async function runProgram(
  { base }: Pick<ServiceClients, 'base'>,
  program: string,
): Promise<{ code: number | null; said: string }> {
  const child = spawn(process.execPath, ['--input-type=module', '-'], {
    cwd: join(import.meta.dirname, '..'),
    env: { PATH: process.env['PATH'], URL: base, KEY: adminKey },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdin.end(program)
  const [said] = await Promise.all([text(child.stdout), once(child, 'exit')])
  return { code: child.exitCode, said }
}
