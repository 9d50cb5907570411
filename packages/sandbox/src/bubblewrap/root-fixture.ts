/** For tests: root folders and layers. */
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export function putFile(path: string, text: string, mode = 0o755): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text, { mode })
}

/** A root folder with a shell and the host libraries that it needs. */
export function makeRoot(root: string, programs: readonly string[]): void {
  for (const program of programs) {
    const text = execFileSync('ldd', [program], { encoding: 'utf8' })
    const libraries = text.match(/\/lib\S+/g) ?? []
    for (const path of [program, ...libraries]) {
      const to = join(root, path.replace(/^\/lib/, '/usr/lib'))
      mkdirSync(dirname(to), { recursive: true })
      copyFileSync(path, to)
    }
  }
  for (const name of ['bin', 'lib', 'lib64']) symlinkSync(`usr/${name}`, join(root, name))
  putFile(join(root, 'etc/os-release'), 'NAME="a small one"\n')
  putFile(join(root, 'etc/passwd'), 'of-the-root:x:0:0::/:/bin/sh\n')
  putFile(join(root, 'opt/thing/file'), 'thing\n')
  putFile(join(root, 'var/lib/file'), 'state\n')
}
