/**
 * Tells a person outside of the page when an agent asks. One tab of the browser speaks: the one that was looked at
 * last, while it is hidden. What was answered is taken back. A notice names the tool, and never its input.
 */
import type { SessionSummary } from './api/types.ts'
import { shortTitleOf } from './session/facts.ts'
import { followWorkspace } from './stream/workspace.ts'
import { say } from './toasts.ts'
import { words } from './words.ts'

const offeredName = 'steward.notices-offered'
const lockName = 'steward.notices'

const notices = new Map<string, Notification>()
let isSpeaker = false

/** Takes the right to speak from the tab that had it, for as long as this one lives; hidden, only where no tab has it. */
function speakFromHere(signal: AbortSignal, isLookedAt: boolean): void {
  const how = isLookedAt ? { steal: true } : { ifAvailable: true }
  void navigator.locks
    ?.request(lockName, how, (lock) => {
      if (!lock) return undefined
      isSpeaker = true
      return new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    })
    // Another tab was looked at since.
    .catch(() => {
      isSpeaker = false
    })
}

/** Asked at the first thing that waits, and once on this device. */
function offer(): void {
  if (Notification.permission !== 'default') return
  try {
    if (localStorage.getItem(offeredName) === '1') return
    localStorage.setItem(offeredName, '1')
  } catch {
    return
  }
  say({
    kind: 'done',
    text: words.asks.offer,
    action: { label: words.asks.yes, run: () => void Notification.requestPermission() },
  })
}

function tell(session: SessionSummary, open: (id: string) => void): void {
  const { id, waiting_on: wait } = session
  if (wait?.who !== 'person') {
    notices.get(id)?.close()
    notices.delete(id)
    return
  }
  offer()
  const isHeard = notices.has(id) || !isSpeaker || document.visibilityState === 'visible'
  if (isHeard || Notification.permission !== 'granted') return
  const notice = new Notification(words.asks.told(session.agent_name), {
    body: `${shortTitleOf(session)} · ${wait.text}`,
    tag: id,
  })
  notice.addEventListener('click', () => {
    window.focus()
    open(id)
    notice.close()
  })
  notices.set(id, notice)
}

/** `open` shows a session. Tells nothing where the browser has no notices, as over plain HTTP. */
export function tellAsks(open: (id: string) => void, signal: AbortSignal): void {
  if (!('Notification' in window) || !isSecureContext) return
  const look = () => document.visibilityState === 'visible' && speakFromHere(signal, true)
  speakFromHere(signal, document.visibilityState === 'visible')
  document.addEventListener('visibilitychange', look, { signal })
  followWorkspace((news) => {
    if (news.kind === 'changed' && news.noun === 'session')
      tell(news.object as SessionSummary, open)
  }, signal)
}
