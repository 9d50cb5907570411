/** The memory stores of a session, and what this session has changed in each. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Diff } from '../../components/diff.tsx'
import { Time } from '../../components/figures.tsx'
import { ListChoice, Quiet, Row, Stack } from '../../components/layout.tsx'
import { MoreRows } from '../../components/list-foot.tsx'
import { Missing } from '../../components/record-page.tsx'
import { previousQuery, versionQuery } from '../../lib/api/memory-versions.ts'
import type { MemoryVersion, Session } from '../../lib/api/types.ts'
import { listStateOf } from '../../lib/list-state.ts'
import { ownVersionsQuery } from './session.ts'
import { memoryWords as own } from './words.ts'

type StoreResource = Extract<Session['resources'][number], { type: 'memory_store' }>

export function MemoryPane({ session }: { session: Session }) {
  const stores = session.resources.filter((each) => each.type === 'memory_store')
  if (stores.length === 0) return <Quiet>{own.none}</Quiet>
  return (
    <Stack>
      {stores.map((store) => (
        <Store key={store.memory_store_id} store={store} session={session.id} />
      ))}
    </Stack>
  )
}

function Store({ store, session }: { store: StoreResource; session: string }) {
  const { memory_store_id: id, name, access } = store
  const [chosen, setChosen] = useState<string>()
  const list = listStateOf(useInfiniteQuery(ownVersionsQuery(session, id)))
  const { rows } = list
  return (
    <Stack gap="normal">
      <Row isSpread>
        <Link to="/memory/$storeId" params={{ storeId: id }}>
          {name}
        </Link>
        <Quiet isSmall>{own.access[access ?? 'read_write']}</Quiet>
      </Row>
      {!rows && <Missing error={list.error} refetch={list.again} />}
      {rows?.length === 0 && <Quiet>{own.unchanged}</Quiet>}
      <div>
        {rows?.map((version) => (
          <div key={version.id}>
            <ListChoice
              isChosen={version.id === chosen}
              onChoose={() => setChosen(version.id === chosen ? undefined : version.id)}
              end={<Time at={version.created_at} />}
            >
              {own.operations[version.operation]} {version.path ?? own.redactedPath}
            </ListChoice>
            {version.id === chosen && <Change version={version} />}
          </div>
        ))}
      </div>
      <MoreRows list={list} />
    </Stack>
  )
}

/** A list has versions without their texts. */
function Change({ version: { memory_store_id: store, id } }: { version: MemoryVersion }) {
  const { data: version, error, refetch } = useQuery(versionQuery(store, id))
  if (!version) return <Missing error={error} refetch={refetch} />
  if (version.redacted_at !== null) return <Quiet>{own.redacted}</Quiet>
  return <Compared version={version} />
}

function Compared({ version }: { version: MemoryVersion }) {
  const { data: before, error, refetch } = useQuery(previousQuery(version.memory_store_id, version))
  if (before === undefined) return <Missing error={error} refetch={refetch} />
  const title = before?.path && before.path !== version.path ? `${before.path} → ` : ''
  return (
    <Diff
      title={`${title}${version.path ?? ''}`}
      before={before?.content ?? ''}
      after={version.content ?? ''}
    />
  )
}
