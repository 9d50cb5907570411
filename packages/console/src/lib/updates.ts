/** A page that is open while the server is updated: its next part is no longer there, and one reload brings the new one. */
const name = 'steward.reloaded'
const again = 60_000

const recently = (): boolean => {
  try {
    return Date.now() - Number(sessionStorage.getItem(name) ?? 0) < again
  } catch {
    return true
  }
}

/** True when the page loads again. A second failure within a minute is shown in place of another reload. */
export function reloadOnce(): boolean {
  if (recently()) return false
  sessionStorage.setItem(name, String(Date.now()))
  location.reload()
  return true
}

export function reloadOnceForUpdates(): void {
  addEventListener('vite:preloadError', (event) => {
    if (reloadOnce()) event.preventDefault()
  })
}

/** True for a part of the console that could not be loaded. */
export const isMissingPart = (error: unknown): boolean =>
  error instanceof Error && /dynamically imported module|module script failed/i.test(error.message)
