/** The versions of an agent, and what each changed. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { stringify } from 'yaml'
import { Button } from '../../components/button.tsx'
import { Diff } from '../../components/diff.tsx'
import { Time } from '../../components/figures.tsx'
import { Quiet, Row, Stack } from '../../components/layout.tsx'
import { Failure, Skeleton } from '../../components/notices.tsx'
import { VersionList } from '../../components/version-list.tsx'
import type { Agent } from '../../lib/api/types.ts'
import { requestIdOf } from '../../lib/failures.ts'
import { listStateOf } from '../../lib/list-state.ts'
import { jsonOf } from '../../lib/request/api-call.ts'
import { creatorsQuery, versionsQuery } from './agents.ts'
import { draftOf } from './draft.ts'
import { agentWords as own } from './words.ts'

type VersionsViewProps = {
  id: string
  /** Undefined where the agent takes no changes. */
  onRestore: ((version: Agent) => void) | undefined
}

const textOf = (agent: Agent): string => stringify(jsonOf(draftOf(agent)), { lineWidth: 0 })

export function VersionsView({ id, onRestore }: VersionsViewProps) {
  const list = listStateOf(useInfiniteQuery(versionsQuery(id)))
  const { data: creators } = useQuery(creatorsQuery(id))
  const [chosen, setChosen] = useState<number>()
  const { rows, error } = list
  if (!rows)
    return error ? (
      <Failure message={error.message} requestId={requestIdOf(error)} onRetry={list.again} />
    ) : (
      <Skeleton />
    )
  const at = Math.max(
    0,
    rows.findIndex(({ version }) => version === chosen),
  )
  const [shown, before] = [rows[at], rows[at + 1]]
  return (
    <VersionList
      list={list}
      keyOf={({ version }) => String(version)}
      nameOf={({ version }) => (
        <>
          {own.versionIs(version)} <Quiet isSmall>{creators?.get(version)}</Quiet>
        </>
      )}
      endOf={({ updated_at: at }) => <Time at={at} />}
      shown={shown}
      onChoose={({ version }) => setChosen(version)}
    >
      {shown && (
        <Stack>
          {before ? (
            <Diff
              title={own.compare(before.version, shown.version)}
              before={textOf(before)}
              after={textOf(shown)}
            />
          ) : (
            <>
              {shown.version === 1 && <Quiet>{own.firstVersion}</Quiet>}
              <Diff title={own.versionIs(shown.version)} before="" after={textOf(shown)} />
            </>
          )}
          {onRestore && at > 0 && (
            <Row>
              <Button onClick={() => onRestore(shown)}>{own.restore(shown.version)}</Button>
            </Row>
          )}
        </Stack>
      )}
    </VersionList>
  )
}
