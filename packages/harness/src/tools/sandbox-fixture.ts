/** For tests of tools: a real sandbox that ends with the test. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bubblewrapSandboxes } from '@steward/sandbox/bubblewrap/bubblewrap.ts'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'

const mebibyte = 1024 * 1024
let serial = 0

export async function openSandbox(): Promise<{ sandbox: Sandbox } & AsyncDisposable> {
  const provider = bubblewrapSandboxes()
  const check = await provider.check()
  assert.ok(check.ok, check.ok ? '' : `${check.why}: ${check.remedy}`)
  const folder = mkdtempSync(join(tmpdir(), 'steward-tools-'))
  const [workspace, outputs] = [join(folder, 'workspace'), join(folder, 'outputs')]
  for (const each of [workspace, outputs]) mkdirSync(each)
  const sandbox = await provider.acquire({
    id: `sesn_tools${process.pid}x${serial++}`,
    workspace,
    outputs,
    env: {},
    egress: null,
    mounts: [],
    isPrefilled: false,
    limits: {
      memory: 256 * mebibyte,
      processes: 64,
      cpus: 2,
      scratch: 64 * mebibyte,
      file: 1024 * mebibyte,
    },
  })
  return {
    sandbox,
    async [Symbol.asyncDispose]() {
      await sandbox.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export const say = async (sandbox: Sandbox, command: string): Promise<string> =>
  (await sandbox.shell({ command, timeoutMs: 20_000 })).output.trimEnd()
