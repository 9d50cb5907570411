/** On a phone, what waits for an answer stands at the bottom, whatever of the session is shown. */
import { useMemo } from 'react'
import { AnswerDock } from '../../components/session-layout.tsx'
import { useIsPhone } from '../../lib/narrow.ts'
import { talkWords } from '../../lib/session/talk-words.ts'
import type { AskingSession } from './asked-call.tsx'
import { openCallsOf, talkOf } from './conversation.ts'
import type { FollowedLog } from './log.ts'
import { Asked } from './talk-piece.tsx'
import { threadsOf } from './threads.ts'

export function AskedDock({ session, log }: { session: AskingSession; log: FollowedLog }) {
  const isPhone = useIsPhone()
  return isPhone ? <Dock session={session} known={log.known} /> : null
}

function Dock({ session, known }: { session: AskingSession; known: FollowedLog['known'] }) {
  const { calls, names } = useMemo(() => {
    const asked = openCallsOf(known)
    const items = asked.size === 0 ? [] : talkOf(known, asked)
    return {
      calls: items
        .flatMap((item) => (item.kind === 'tools' ? item.calls : []))
        .filter(({ isAsking }) => isAsking),
      names: new Map(threadsOf(known).map(({ id, name }) => [id, name])),
    }
  }, [known])
  // The oldest comes first.
  const [first, ...others] = calls
  if (!first) return null
  return (
    <AnswerDock more={others.length === 0 ? '' : talkWords.moreAsked(others.length)}>
      <Asked key={first.id} call={first} session={session} names={names} />
    </AnswerDock>
  )
}
