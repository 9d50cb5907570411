import { readFileSync } from 'node:fs'

/** Files for each process that every system allows. */
const least = 1024

/**
 * Number of files and connections that this process may have open at once; node raises the soft limit to the hard one.
 */
export function openFilesLimit(read = () => readFileSync('/proc/self/limits', 'utf8')): number {
  let text: string
  try {
    text = read()
  } catch {
    // Only Linux has the file.
    return least
  }
  const soft = /^Max open files\s+(\d+|unlimited)/m.exec(text)?.[1] ?? ''
  return soft === 'unlimited' ? Number.MAX_SAFE_INTEGER : Number(soft) || least
}
