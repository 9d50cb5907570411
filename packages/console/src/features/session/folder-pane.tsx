/** The working folder of a session: what lies in it, and what a file says. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { CodeBlock } from '../../components/code-block.tsx'
import { Time } from '../../components/figures.tsx'
import { ListChoice, Quiet, Row, Stack } from '../../components/layout.tsx'
import { Failure, Skeleton } from '../../components/notices.tsx'
import { requestIdOf } from '../../lib/failures.ts'
import { formatBytes } from '../../lib/format/numbers.ts'
import { words } from '../../lib/words.ts'
import { fileQuery, folderQuery, largestShown, saveFolderFile } from './folder.ts'

const { panes: own } = words.session

export function FolderPane({ session }: { session: string }) {
  const [path, setPath] = useState('')
  const [file, setFile] = useState<{ path: string; size: number }>()
  const query = useInfiniteQuery(folderQuery(session, path))
  const { data, error } = query
  if (!data)
    return error ? (
      <Failure
        message={error.message}
        requestId={requestIdOf(error)}
        onRetry={() => void query.refetch()}
      />
    ) : (
      <Skeleton rows={4} />
    )
  const [first] = data.pages
  if (!first || first.source === 'none') return <Quiet>{first?.reason ?? own.noFolder}</Quiet>
  if (file) return <FileView session={session} {...file} onBack={() => setFile(undefined)} />
  const entries = data.pages.flatMap((page) => page.data)
  const inside = (name: string) => (path === '' ? name : `${path}/${name}`)
  return (
    <Stack gap="normal">
      <Row isSpread>
        <Quiet isSmall>
          {first.path} · {first.source === 'live' ? own.live : own.fromCheckpoint}
          {first.at !== null && first.source !== 'live' && (
            <>
              {' '}
              <Time at={first.at} />
            </>
          )}
        </Quiet>
        <Button size="small" kind="plain" onClick={() => void query.refetch()}>
          {own.again}
        </Button>
      </Row>
      <div>
        {path !== '' && (
          <ListChoice
            isChosen={false}
            onChoose={() => setPath(path.split('/').slice(0, -1).join('/'))}
          >
            ..
          </ListChoice>
        )}
        {entries.map(({ name, kind, size, target, is_exact: isExact }) => (
          <ListChoice
            key={name}
            isChosen={false}
            isOff={!isExact || kind === 'other' || kind === 'link'}
            onChoose={() => {
              if (kind === 'folder') setPath(inside(name))
              if (kind === 'file') setFile({ path: inside(name), size: size ?? 0 })
            }}
            end={size === null ? '' : formatBytes(size)}
          >
            {kind === 'folder' ? `${name}/` : target === null ? name : `${name} → ${target}`}
          </ListChoice>
        ))}
      </div>
      {entries.length === 0 && <Quiet>{own.emptyFolder}</Quiet>}
      {!first.is_complete && <Quiet isSmall>{own.incomplete}</Quiet>}
      {query.hasNextPage && (
        <div>
          <Button
            size="small"
            isBusy={query.isFetchingNextPage}
            onClick={() => void query.fetchNextPage()}
          >
            {words.list.more}
          </Button>
        </div>
      )}
    </Stack>
  )
}

function FileView({
  session,
  path,
  size,
  onBack,
}: {
  session: string
  path: string
  size: number
  onBack: () => void
}) {
  const isShown = size <= largestShown
  const { data, error } = useQuery({ ...fileQuery(session, path), enabled: isShown })
  return (
    <Stack gap="normal">
      <Row isSpread>
        <Button size="small" kind="plain" onClick={onBack}>
          ← {own.folder}
        </Button>
        <Button size="small" onClick={() => void saveFolderFile(session, path)}>
          {own.download}
        </Button>
      </Row>
      {!isShown && <Quiet>{own.tooLarge(formatBytes(size))}</Quiet>}
      {error && <Failure message={error.message} requestId={requestIdOf(error)} />}
      {isShown && !error && data === undefined && <Skeleton rows={4} />}
      {data?.text === undefined ? (
        data && <Quiet>{own.noText}</Quiet>
      ) : (
        <CodeBlock language={path} text={data.text} />
      )}
    </Stack>
  )
}
