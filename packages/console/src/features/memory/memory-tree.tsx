/** The memories of a store by their paths; a folder asks for what lies in it when it is opened. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Time } from '../../components/figures.tsx'
import { Quiet } from '../../components/layout.tsx'
import { Skeleton } from '../../components/notices.tsx'
import { Tree, TreeFolder, TreeLeaf, TreeNote } from '../../components/tree.tsx'
import { listStateOf } from '../../lib/list-state.ts'
import { words } from '../../lib/words.ts'
import { folderQuery } from './memory.ts'
import { memoryWords as own } from './words.ts'

type MemoryTreeProps = {
  store: string
  chosen: { id: string; path: string | undefined } | undefined
  onChoose: (memory: string) => void
}

export const MemoryTree = (props: MemoryTreeProps) => (
  <Tree label={own.tree}>
    <Folder {...props} prefix="/" depth={0} />
  </Tree>
)

type FolderProps = MemoryTreeProps & {
  /** Begins and ends with a slash. */
  prefix: string
  depth: number
}

function Folder({ store, chosen, onChoose, prefix, depth }: FolderProps) {
  const list = listStateOf(useInfiniteQuery(folderQuery(store, prefix)))
  if (!list.rows)
    return (
      <TreeNote depth={depth}>
        {list.error ? (
          <>
            {list.error.message}
            <Button size="small" kind="plain" onClick={list.again}>
              {words.retry}
            </Button>
          </>
        ) : (
          <Skeleton rows={1} />
        )}
      </TreeNote>
    )
  return (
    <>
      {list.rows.map((row) =>
        row.type === 'memory_prefix' ? (
          <OpeningFolder
            key={row.path}
            store={store}
            chosen={chosen}
            onChoose={onChoose}
            prefix={row.path}
            depth={depth}
          />
        ) : (
          <TreeLeaf
            key={row.id}
            name={row.path.slice(prefix.length)}
            depth={depth}
            isChosen={row.id === chosen?.id}
            onChoose={() => onChoose(row.id)}
            end={<Time at={row.updated_at} />}
          />
        ),
      )}
      {list.rows.length === 0 && (
        <TreeNote depth={depth}>
          <Quiet>{own.none}</Quiet>
        </TreeNote>
      )}
      {list.more && (
        <TreeNote depth={depth}>
          <Button size="small" kind="plain" isBusy={list.isLoadingMore} onClick={list.more}>
            {own.more}
          </Button>
        </TreeNote>
      )}
    </>
  )
}

/** Open at first where the chosen memory lies in it. */
function OpeningFolder(props: FolderProps) {
  const { prefix, depth, chosen } = props
  const [toggled, setToggled] = useState<boolean>()
  const isOpen = toggled ?? chosen?.path?.startsWith(prefix) === true
  const name = prefix.split('/').at(-2) ?? prefix
  return (
    <TreeFolder name={name} depth={depth} isOpen={isOpen} onToggle={() => setToggled(!isOpen)}>
      <Folder {...props} depth={depth + 1} />
    </TreeFolder>
  )
}
