/** Makes links inside a sandbox, from places that the session can write to, to files that it cannot write. */
import { quoteWord } from '@steward/sandbox/quote-word.ts'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'

const withinMs = 60_000

/** Paths inside the sandbox. */
export type SandboxLink = { path: string; target: string }

/**
 * Removes those links of `gone` that are unchanged, then makes the links of `wanted`. Returns the wanted links whose
 * path something else takes. `shelf` is the folder of all targets.
 */
export async function replaceLinks<L extends SandboxLink>(
  sandbox: Sandbox,
  { gone, wanted, shelf }: { gone: readonly SandboxLink[]; wanted: readonly L[]; shelf: string },
): Promise<L[]> {
  if (gone.length + wanted.length === 0) return []
  const command = [
    script,
    `shelf=${quoteWord(shelf)}`,
    ...gone.map(({ path, target }) => `gone ${quoteWord(path)} ${quoteWord(target)}`),
    ...wanted.map(({ path, target }, at) => `put ${quoteWord(path)} ${quoteWord(target)} ${at}`),
  ].join('\n')
  const { ended, output } = await sandbox.shell({ command, timeoutMs: withinMs, secretEnv: {} })
  if (ended !== 'exit') throw new Error('links to files were not made in time')
  const taken = new Set(output.split('\n'))
  return wanted.filter((_, at) => taken.has(`taken ${at}`))
}

const script = `
exec 2>/dev/null
gone() { [ "$(readlink -- "$1")" != "$2" ] || rm -f -- "$1"; }
put() {
  at=$(readlink -- "$1")
  [ "$at" != "$2" ] || return
  case $at in
    "$shelf"/*) rm -f -- "$1" ;;
    *) if [ -e "$1" ] || [ -L "$1" ]; then echo "taken $3"; return; fi ;;
  esac
  mkdir -p -- "$(dirname -- "$1")" && ln -sT -- "$2" "$1" || echo "taken $3"
}`
