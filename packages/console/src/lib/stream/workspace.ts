/**
 * News of the workspace: which nouns have changed. Until the service has one stream of a workspace, the news is a
 * regular look. This file alone knows which: pages follow `followWorkspace`.
 */
export type WorkspaceNews = { noun: 'sessions' }

const lookMs = 3_000

/** Calls until the signal aborts, while the page is visible. */
export function followWorkspace(onNews: (news: WorkspaceNews) => void, signal: AbortSignal): void {
  const look = () => {
    if (document.visibilityState === 'visible') onNews({ noun: 'sessions' })
  }
  const timer = setInterval(look, lookMs)
  document.addEventListener('visibilitychange', look, { signal })
  signal.addEventListener('abort', () => clearInterval(timer))
}
