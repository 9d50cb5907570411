// Rebuilds the sandbox daemon and compares it, byte for byte, with the committed binaries.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DaemonHashes } from './build.ts'
import { daemonArchitectures, compileDaemon, describeBuild, daemonTargets } from './build.ts'
import recorded from './hashes.json' with { type: 'json' }

function differences(recorded: DaemonHashes, found: DaemonHashes): string[] {
  const different: string[] = []
  const compare = (what: string, before: string | undefined, now: string | undefined) => {
    if (before !== now) different.push(`${what}: recorded ${before}, here ${now}`)
  }
  compare('source', recorded.source, found.source)
  compare('flags', recorded.flags, found.flags)
  for (const arch of daemonArchitectures) {
    const [before, now] = [recorded.binaries[arch], found.binaries[arch]]
    compare(`${arch}: binary`, before.sha256, now.sha256)
    compare(`${arch}: compiler`, before.compiler, now.compiler)
    for (const [name, version] of Object.entries(before.packages)) {
      compare(`${arch}: package ${name}`, version, now.packages[name])
    }
  }
  return different
}

function rebuild(): DaemonHashes {
  const into = mkdtempSync(join(tmpdir(), 'steward-sandboxd-'))
  try {
    for (const arch of daemonArchitectures) compileDaemon(arch, into)
    return describeBuild(into)
  } catch (cause) {
    const packages = daemonArchitectures.flatMap((arch) => daemonTargets[arch].packages)
    throw new Error(
      `the sandbox daemon does not build here: apt-get install ${packages.join(' ')}`,
      { cause },
    )
  } finally {
    rmSync(into, { recursive: true, force: true })
  }
}

const different = differences(recorded, rebuild())
for (const line of different) process.stdout.write(`${line}\n`)
if (different.length > 0) process.exitCode = 1
else process.stdout.write('the binaries are what the source and the recorded toolchain build\n')
