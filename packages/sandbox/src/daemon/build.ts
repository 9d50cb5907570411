// Builds the sandbox daemon for both architectures and records its sources and toolchain.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const daemonFolder = import.meta.dirname

const flags = [
  ...['-std=c11', '-Wall', '-Wextra', '-Werror', '-Os', '-static', '-s'],
  ...['-fno-asynchronous-unwind-tables', '-ffunction-sections', '-fdata-sections'],
  ...['-Wl,--gc-sections', '-Wl,--build-id=none', '-Wl,-z,noexecstack'],
]

/** musl where Debian packages it; glibc for arm64, whose cross compiler has no musl. */
export const daemonTargets = {
  x64: { compiler: 'musl-gcc', packages: ['musl-tools', 'musl-dev', 'gcc-12', 'binutils'] },
  arm64: {
    compiler: 'aarch64-linux-gnu-gcc',
    packages: [
      'gcc-aarch64-linux-gnu',
      'gcc-12-aarch64-linux-gnu',
      'libc6-dev-arm64-cross',
      'binutils-aarch64-linux-gnu',
    ],
  },
} as const

/** Compiled first: the order of the sources decides the bytes of the binary. */
const main = 'daemon.c'

export type DaemonArch = keyof typeof daemonTargets
export const daemonArchitectures: readonly DaemonArch[] = ['x64', 'arm64']

export type DaemonHashes = {
  source: string
  flags: string
  binaries: Record<
    DaemonArch,
    { sha256: string; compiler: string; packages: Record<string, string> }
  >
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const output = (command: string, args: string[]) =>
  execFileSync(command, args, { encoding: 'utf8', cwd: daemonFolder })

export const binaryPath = (arch: DaemonArch, into = join(daemonFolder, 'bin')) =>
  join(into, `sandboxd-${arch}`)

export const hashFile = (path: string) => sha256(readFileSync(path))

/** One hash over the names and contents of all C files. */
export function hashSource(): string {
  const files = readdirSync(daemonFolder).filter((name) => /\.[ch]$/.test(name))
  files.sort()
  const lines = files.map((name) => `${hashFile(join(daemonFolder, name))}  ${name}\n`)
  return sha256(Buffer.from(lines.join('')))
}

/** The Debian versions of the compiler's packages; empty for a package that dpkg does not know. */
export function readToolchain(arch: DaemonArch): Record<string, string> {
  const shown = daemonTargets[arch].packages.map((name) => [
    name,
    output('dpkg-query', ['-W', '-f', '${Version}', name]),
  ])
  return Object.fromEntries(shown)
}

export function compileDaemon(arch: DaemonArch, into: string): void {
  const others = readdirSync(daemonFolder).filter((name) => name.endsWith('.c') && name !== main)
  others.sort()
  mkdirSync(into, { recursive: true })
  output(daemonTargets[arch].compiler, [...flags, '-o', binaryPath(arch, into), main, ...others])
}

export function describeBuild(into: string): DaemonHashes {
  const entry = (arch: DaemonArch) => ({
    sha256: hashFile(binaryPath(arch, into)),
    compiler: output(daemonTargets[arch].compiler, ['--version']).split('\n')[0] ?? '',
    packages: readToolchain(arch),
  })
  const binaries = { x64: entry('x64'), arm64: entry('arm64') }
  return { source: hashSource(), flags: flags.join(' '), binaries }
}

if (import.meta.main) {
  const into = join(daemonFolder, 'bin')
  for (const arch of daemonArchitectures) compileDaemon(arch, into)
  const hashes = `${JSON.stringify(describeBuild(into), null, 2)}\n`
  writeFileSync(join(daemonFolder, 'hashes.json'), hashes)
  process.stdout.write(hashes)
}
