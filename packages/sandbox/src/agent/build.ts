// Builds the sandbox daemon for both architectures and records its sources and toolchain.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const folder = import.meta.dirname

const flags = [
  ...['-std=c11', '-Wall', '-Wextra', '-Werror', '-Os', '-static', '-s'],
  ...['-fno-asynchronous-unwind-tables', '-ffunction-sections', '-fdata-sections'],
  ...['-Wl,--gc-sections', '-Wl,--build-id=none', '-Wl,-z,noexecstack'],
]

/** musl where Debian packages it; glibc for arm64, whose cross compiler has no musl. */
export const targets = {
  x64: { compiler: 'musl-gcc', packages: ['musl-tools', 'musl-dev', 'gcc-12', 'binutils'] },
  arm64: {
    compiler: 'aarch64-linux-gnu-gcc',
    packages: ['gcc-12-aarch64-linux-gnu', 'libc6-dev-arm64-cross', 'binutils-aarch64-linux-gnu'],
  },
} as const

export type DaemonArch = keyof typeof targets
export const architectures: readonly DaemonArch[] = ['x64', 'arm64']

export type Hashes = {
  source: string
  flags: string
  binaries: Record<
    DaemonArch,
    { sha256: string; compiler: string; packages: Record<string, string> }
  >
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const output = (command: string, args: string[]) =>
  execFileSync(command, args, { encoding: 'utf8', cwd: folder })

export const binary = (arch: DaemonArch, into = join(folder, 'bin')) => join(into, `agent-${arch}`)

export const hashOf = (path: string) => sha256(readFileSync(path))

/** One hash over the names and contents of all C files. */
export function hashSource(): string {
  const files = readdirSync(folder).filter((name) => /\.[ch]$/.test(name))
  files.sort()
  const lines = files.map((name) => `${hashOf(join(folder, name))}  ${name}\n`)
  return sha256(Buffer.from(lines.join('')))
}

/** The Debian versions of the compiler's packages; empty for a package that dpkg does not know. */
export function toolchain(arch: DaemonArch): Record<string, string> {
  const shown = targets[arch].packages.map((name) => [
    name,
    output('dpkg-query', ['-W', '-f', '${Version}', name]),
  ])
  return Object.fromEntries(shown)
}

export function compile(arch: DaemonArch, into: string): void {
  const sources = readdirSync(folder).filter((name) => name.endsWith('.c'))
  sources.sort()
  mkdirSync(into, { recursive: true })
  output(targets[arch].compiler, [...flags, '-o', binary(arch, into), ...sources])
}

export function describe(into: string): Hashes {
  const entry = (arch: DaemonArch) => ({
    sha256: hashOf(binary(arch, into)),
    compiler: output(targets[arch].compiler, ['--version']).split('\n')[0] ?? '',
    packages: toolchain(arch),
  })
  const binaries = { x64: entry('x64'), arm64: entry('arm64') }
  return { source: hashSource(), flags: flags.join(' '), binaries }
}

if (import.meta.main) {
  const into = join(folder, 'bin')
  for (const arch of architectures) compile(arch, into)
  const hashes = `${JSON.stringify(describe(into), null, 2)}\n`
  writeFileSync(join(folder, 'hashes.json'), hashes)
  process.stdout.write(hashes)
}
