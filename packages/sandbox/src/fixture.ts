/** For tests: folders of sessions, and the processes of sandboxes as the host sees them. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Sandbox, SandboxProvider, SandboxSpec, ShellResult } from './sandbox.ts'

export type SpecChanges = Partial<Omit<SandboxSpec, 'limits'>> & {
  limits?: Partial<SandboxSpec['limits']>
}

export type Bench = AsyncDisposable & {
  provider: SandboxProvider
  folder: string
  /** The spec of a new session whose folders exist. */
  spec: (changes?: SpecChanges) => SandboxSpec
  /** The sandbox is closed at the end of the test, if it was not closed before. */
  open: (changes?: SpecChanges) => Promise<Sandbox>
}

const mebibyte = 1 << 20
let serial = 0

/** The top folder has mode 0700, like a data folder. */
export function bench(provider: SandboxProvider): Bench {
  const folder = mkdtempSync(join(tmpdir(), 'steward-test-'))
  const opened: Sandbox[] = []
  function spec({ limits, ...changes }: SpecChanges = {}): SandboxSpec {
    const id = `sesn_test${process.pid}x${serial++}`
    const [workspace, outputs] = [join(folder, id, 'workspace'), join(folder, id, 'outputs')]
    for (const each of [workspace, outputs]) mkdirSync(each, { recursive: true })
    const most = {
      ...{ memory: 256 * mebibyte, processes: 64, cpus: 2, scratch: 64 * mebibyte },
      file: 4096 * mebibyte,
    }
    return {
      id,
      workspace,
      outputs,
      env: {},
      egress: null,
      mounts: [],
      isPrefilled: false,
      limits: { ...most, ...limits },
      ...changes,
    }
  }
  return {
    provider,
    folder,
    spec,
    async open(changes) {
      const sandbox = await provider.acquire(spec(changes))
      opened.push(sandbox)
      return sandbox
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(opened.map((sandbox) => sandbox.close()))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export const run = (sandbox: Sandbox, command: string, timeoutMs = 20_000): Promise<ShellResult> =>
  sandbox.shell({ command, timeoutMs })

export const say = async (sandbox: Sandbox, command: string): Promise<string> =>
  (await run(sandbox, command)).output.trimEnd()

/** An argument of `sleep` that no other process has. */
export const uniqueSleep = (): string => `9${process.pid}${Date.now()}${serial++}`

const processes = (): string[] => readdirSync('/proc').filter((name) => /^\d+$/.test(name))

/** Host processes with this argument. */
export function processesWith(text: string): number[] {
  return processes()
    .filter((pid) => readOf(pid, 'cmdline').split('\0').includes(text))
    .map(Number)
}

/** Numbers of host processes whose arguments or environment contain this text. */
export function processesHolding(file: 'cmdline' | 'environ', text: string): number[] {
  return processes()
    .filter((pid) => readOf(pid, file).includes(text))
    .map(Number)
    .toSorted((a, b) => a - b)
}

export const parentOf = (pid: number): number =>
  Number(/^PPid:\s+(\d+)$/m.exec(readOf(String(pid), 'status'))?.[1])

function readOf(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    // The process has ended since it was listed, or belongs to another user.
    return ''
  }
}

/** Throws when `isTrue` stays false for ten seconds. */
export async function until(what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 10_000
  while (!(await isTrue())) {
    if (performance.now() > deadline) throw new Error(`not so within ten seconds: ${what}`)
    await delay(5)
  }
}

/** Sentences of a contract, with the functions that test them. */
export type ContractCases = Record<string, (bench: Bench, origin: ProviderOrigin) => Promise<void>>

/** The module and export of the provider's function, for other processes. */
export type ProviderOrigin = { module: string; name: string }
