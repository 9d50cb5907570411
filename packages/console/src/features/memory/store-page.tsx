/** A memory store: its memories as a tree beside the one that is open, and what was changed in it. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { AskEnding } from '../../components/ask.tsx'
import { Button } from '../../components/button.tsx'
import { Id } from '../../components/figures.tsx'
import { ListAndOne, Quiet, ToolLine, WhereWide } from '../../components/layout.tsx'
import { MoreMenu } from '../../components/more-menu.tsx'
import { Banner } from '../../components/notices.tsx'
import { Page } from '../../components/page.tsx'
import { RecordPage } from '../../components/record-page.tsx'
import { Tabs } from '../../components/tabs.tsx'
import type { MemoryStore } from '../../lib/api/types.ts'
import { useReadOnlyReason } from '../../lib/rights.ts'
import { MemoryTree } from './memory-tree.tsx'
import { MemoryView } from './memory-view.tsx'
import { memoryQuery, storeQuery, useStoreArchive, useStoreDelete } from './memory.ts'
import { NewMemory } from './new-memory.tsx'
import { VersionsView } from './versions-view.tsx'
import type { StoreTab } from './tabs.ts'
import { storeTabs } from './tabs.ts'
import { memoryWords, storeWords as own } from './words.ts'

const ChangeStore = lazy(async () => ({
  default: (await import('./store-dialogs.tsx')).ChangeStore,
}))

/** What of a store is shown; it stands in the address. */
type StoreView = {
  tab?: StoreTab | undefined
  memory?: string | undefined
  version?: string | undefined
}

type StorePageProps = {
  id: string
  view: StoreView
  onView: (view: StoreView) => void
  onDeleted: () => void
}

export const StorePage = (props: StorePageProps) => (
  <RecordPage
    title={own.title}
    crumbs={<Link to="/memory">{own.title}</Link>}
    query={useQuery(storeQuery(props.id))}
  >
    {(store) => <OpenStore {...props} store={store} />}
  </RecordPage>
)

function OpenStore({ store, view, onView, onDeleted }: StorePageProps & { store: MemoryStore }) {
  const { tab = 'memories', memory, version } = view
  const [isWriting, setWriting] = useState(false)
  const readOnly = useReadOnlyReason()
  const isArchived = store.archived_at !== null
  const offBecause = isArchived ? own.isArchived : undefined
  const write = () => {
    setWriting(true)
    onView({ memory })
  }
  return (
    <Page
      title={store.name}
      crumbs={<Link to="/memory">{own.title}</Link>}
      beside={
        <WhereWide>
          <Id of={store.id} />
        </WhereWide>
      }
      actions={
        <>
          <StoreActions store={store} onDeleted={onDeleted} />
          <Button kind="primary" offBecause={readOnly ?? offBecause} onClick={write}>
            {memoryWords.make}
          </Button>
        </>
      }
    >
      <Tabs
        label={own.views}
        tabs={storeTabs.map((name) => ({ name, label: own.tabs[name] }))}
        chosen={tab}
        onChoose={(next) => onView({ tab: next, memory })}
      />
      {isArchived && <Banner title={own.isArchived} />}
      {store.description !== '' && (
        <ToolLine>
          <Quiet>{store.description}</Quiet>
        </ToolLine>
      )}
      {tab === 'versions' ? (
        <VersionsView
          store={store.id}
          memory={memory}
          chosen={version}
          offBecause={offBecause}
          onChoose={(next) => onView({ tab, memory, version: next })}
          onAll={() => onView({ tab })}
          onMemory={(next) => onView({ memory: next })}
        />
      ) : (
        <Memories
          store={store.id}
          memory={memory}
          isWriting={isWriting}
          offBecause={offBecause}
          onWriting={setWriting}
          onView={onView}
        />
      )}
    </Page>
  )
}

function Memories({
  store,
  memory,
  isWriting,
  offBecause,
  onWriting,
  onView,
}: {
  store: string
  memory: string | undefined
  isWriting: boolean
  offBecause: string | undefined
  onWriting: (isWriting: boolean) => void
  onView: (view: StoreView) => void
}) {
  const { data: opened } = useQuery({
    ...memoryQuery(store, memory ?? ''),
    enabled: memory !== undefined,
  })
  const choose = (next: string | undefined) => {
    onWriting(false)
    onView({ memory: next })
  }
  return (
    <ListAndOne
      list={
        <MemoryTree
          store={store}
          chosen={memory === undefined ? undefined : { id: memory, path: opened?.path }}
          onChoose={choose}
        />
      }
      one={
        isWriting ? (
          <NewMemory
            store={store}
            folder={opened?.path.replace(/[^/]+$/, '') ?? '/'}
            onMade={({ id }) => choose(id)}
            onClose={() => onWriting(false)}
          />
        ) : memory === undefined ? (
          <Quiet>{memoryWords.choose}</Quiet>
        ) : (
          <MemoryView
            key={memory}
            store={store}
            id={memory}
            offBecause={offBecause}
            onVersions={() => onView({ tab: 'versions', memory })}
            onDeleted={() => choose(undefined)}
          />
        )
      }
    />
  )
}

function StoreActions({ store, onDeleted }: { store: MemoryStore; onDeleted: () => void }) {
  const [open, setOpen] = useState<'change' | 'archive' | 'remove'>()
  const archive = useStoreArchive(store.id)
  const remove = useStoreDelete(store.id)
  const offBecause = useReadOnlyReason()
  const close = () => setOpen(undefined)
  const changes = [
    { label: own.change, offBecause, run: () => setOpen('change') },
    { label: own.archive, offBecause, run: () => setOpen('archive') },
  ]
  const removal = { label: own.remove, offBecause, isDanger: true, run: () => setOpen('remove') }
  return (
    <>
      <MoreMenu items={store.archived_at === null ? [...changes, removal] : [removal]} />
      <Suspense>{open === 'change' && <ChangeStore store={store} onClose={close} />}</Suspense>
      <AskEnding
        asked={open}
        own={own}
        name={store.name}
        archive={archive}
        remove={remove}
        onClose={close}
        onRemoved={onDeleted}
      />
    </>
  )
}
