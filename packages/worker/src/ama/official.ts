/** The places of the official client and its packages, on this machine and in a sandbox. */
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { SandboxMount } from '@steward/sandbox/sandbox.ts'
import { isBuilt } from '@steward/base/own-command.ts'
import { parseObject } from '@steward/base/json-object.ts'

const program = fileURLToPath(new URL('./main.ts', import.meta.url))
const own = fileURLToPath(new URL('../../package.json', import.meta.url))
const programFolder = '/opt/steward-worker'

export type OfficialProgram = { program: string; mounts: SandboxMount[] }

export const onHost: OfficialProgram = { program, mounts: [] }

/** A build has the program with the client in one file. */
const inOneFile = (): OfficialProgram => {
  const path = `${programFolder}/main.mjs`
  return { program: path, mounts: [{ source: program, path, access: 'read' }] }
}

export function inSandbox(): OfficialProgram {
  if (isBuilt) return inOneFile()
  const packages = new Map<string, string>()
  gather('@anthropic-ai/sdk', dirname(own), packages)
  const read = (source: string, path: string) =>
    ({ source, path: `${programFolder}/${path}`, access: 'read' }) as const
  return {
    program: `${programFolder}/main.ts`,
    mounts: [
      read(program, 'main.ts'),
      read(own, 'package.json'),
      ...[...packages].map(([name, folder]) => read(folder, `node_modules/${name}`)),
    ],
  }
}

function gather(name: string, from: string, packages: Map<string, string>): void {
  if (packages.has(name)) return
  const folder = folderOf(name, from)
  packages.set(name, folder)
  const text = readFileSync(join(folder, 'package.json'), 'utf8')
  const { dependencies } = parseObject(text)
  for (const each of Object.keys(dependencies ?? {})) gather(each, folder, packages)
}

function folderOf(name: string, from: string): string {
  for (let at = from; ; at = dirname(at)) {
    const folder = join(at, 'node_modules', name)
    if (existsSync(join(folder, 'package.json'))) return realpathSync(folder)
    if (dirname(at) === at) throw new Error(`${name} is not installed`)
  }
}
