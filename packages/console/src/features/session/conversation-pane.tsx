/** The conversation of a session in a part of another page. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Failure, Skeleton } from '../../components/notices.tsx'
import { requestIdOf } from '../../lib/failures.ts'
import { useSessionLog } from './log.ts'
import { SessionTalk, useFreshSession, useSessionNews, WaitBanner } from './session-talk.tsx'
import { sessionQuery } from './session.ts'

export function Conversation({ id }: { id: string }) {
  const { data: session, error, refetch } = useQuery(sessionQuery(id))
  const log = useSessionLog(id)
  const [chosen, choose] = useState<string>()
  useFreshSession(log, () => void refetch())
  useSessionNews(id)
  if (!session)
    return error ? (
      <Failure
        message={error.message}
        requestId={requestIdOf(error)}
        onRetry={() => void refetch()}
      />
    ) : (
      <Skeleton />
    )
  return (
    <>
      {session.waiting_on && <WaitBanner wait={session.waiting_on} />}
      <SessionTalk session={session} log={log} view="talk" chosen={chosen} onChoose={choose} />
    </>
  )
}
