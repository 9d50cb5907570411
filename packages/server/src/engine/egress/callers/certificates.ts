import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { runOnce } from '@steward/base/shared-runs.ts'

const ending = '.crt'
const own = `${hostname()}-`

/**
 * Writes the certificates that sandboxes of this process trust. The file name holds the process id, because processes
 * of other machines may share the folder.
 */
export async function writeCertificates(folder: string, text: string): Promise<string> {
  const path = join(folder, `${own}${process.pid}${ending}`)
  await mkdir(folder, { recursive: true })
  await writeFile(path, text, { mode: 0o644 })
  return path
}

/** `write` writes the file at its first call and returns the path. After a failure the next call tries again. */
export function certificatesIn(folder: string, text: () => string) {
  const write = runOnce(() => writeCertificates(folder, text()))
  return {
    write,
    async remove(): Promise<void> {
      const path = await write.current()?.catch(() => undefined)
      if (path) await rm(path, { force: true })
    },
  }
}

/** Removes the certificates of dead processes of this machine. */
export async function removeLeftCertificates(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const name of await readdir(folder)) {
    if (!name.startsWith(own) || !name.endsWith(ending)) continue
    const pid = Number(name.slice(own.length, -ending.length))
    if (Number.isSafeInteger(pid) && !isAlive(pid)) await rm(join(folder, name), { force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
