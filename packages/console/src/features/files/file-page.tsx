/** One file: what is known of it, and what is in it. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { AskBefore } from '../../components/ask-before.tsx'
import { Button } from '../../components/button.tsx'
import { CodeBlock } from '../../components/code-block.tsx'
import { Fact, Id, Time } from '../../components/figures.tsx'
import { ImageView } from '../../components/image-view.tsx'
import { Quiet, Scroll, Stack, ToolLine, WhereWide } from '../../components/layout.tsx'
import { LoadedPage } from '../../components/loaded-page.tsx'
import { Banner, Empty, Failure, Skeleton } from '../../components/notices.tsx'
import { Page } from '../../components/page.tsx'
import { SessionLink } from '../../components/session-link.tsx'
import type { FileMetadata } from '../../lib/api/types.ts'
import { requestIdOf } from '../../lib/failures.ts'
import { shortId } from '../../lib/format/ids.ts'
import { formatBytes } from '../../lib/format/numbers.ts'
import { useReadOnlyReason } from '../../lib/rights.ts'
import { say } from '../../lib/toasts.ts'
import type { FileView } from './content.ts'
import { longestText } from './content.ts'
import { contentQuery, fileQuery, useDownload, useFileDelete } from './files.ts'
import { fileWords as own } from './words.ts'

type FilePageProps = { id: string; onGone: () => void }

const crumbs = <Link to="/files">{own.title}</Link>

export function FilePage({ id, onGone }: FilePageProps) {
  const query = useQuery(fileQuery(id))
  return (
    <LoadedPage title={own.title} crumbs={crumbs} query={query}>
      {(file) => <OpenFile file={file} onGone={onGone} />}
    </LoadedPage>
  )
}

function OpenFile({ file, onGone }: { file: FileMetadata; onGone: () => void }) {
  const download = useDownload()
  return (
    <Page
      title={file.filename}
      crumbs={crumbs}
      beside={
        <WhereWide>
          <Quiet isSmall>
            <Id of={file.id} />
          </Quiet>
        </WhereWide>
      }
      actions={
        <>
          <Removal file={file} onGone={onGone} />
          <Button
            kind="primary"
            isBusy={download.isPending}
            offBecause={file.downloadable ? undefined : own.notDownloadable}
            onClick={() => download.mutate(file)}
          >
            {own.download}
          </Button>
        </>
      }
      line={<Facts file={file} />}
    >
      {download.error && <Banner kind="failed" sign="failed" title={download.error.message} />}
      <Scroll isPadded>
        <Content file={file} />
      </Scroll>
    </Page>
  )
}

const Facts = ({ file }: { file: FileMetadata }) => (
  <ToolLine>
    <Fact name={own.columns.type}>{file.mime_type}</Fact>
    <Fact name={own.columns.size}>{formatBytes(file.size_bytes)}</Fact>
    <Fact name={own.columns.scope}>
      {file.scope ? (
        <SessionLink id={file.scope.id} title={shortId(file.scope.id)} />
      ) : (
        own.workspace
      )}
    </Fact>
    <Fact name={own.columns.made}>
      <Time at={file.created_at} />
    </Fact>
    {file.expires_at !== null && (
      <Fact name={own.expires}>{new Date(file.expires_at).toLocaleString()}</Fact>
    )}
  </ToolLine>
)

function Content({ file }: { file: FileMetadata }) {
  const query = useQuery(contentQuery(file))
  if (!file.downloadable) return <Empty>{own.notDownloadable}</Empty>
  if (query.error)
    return (
      <Failure
        message={query.error.message}
        requestId={requestIdOf(query.error)}
        onRetry={() => void query.refetch()}
      />
    )
  return query.data ? <Shown file={file} view={query.data} /> : <Skeleton />
}

const without = { none: own.noView, empty: own.empty, large: own.tooLarge }

function Shown({ file, view }: { file: FileMetadata; view: FileView }) {
  if (view.kind === 'image') return <ImageView bytes={view.bytes} name={file.filename} />
  if (view.kind !== 'text') return <Empty>{without[view.kind]}</Empty>
  return (
    <Stack>
      {file.size_bytes > longestText && <Quiet>{own.cut(formatBytes(longestText))}</Quiet>}
      <CodeBlock language={file.mime_type} text={view.text} />
    </Stack>
  )
}

function Removal({ file: { id, filename }, onGone }: { file: FileMetadata; onGone: () => void }) {
  const [isAsked, setAsked] = useState(false)
  const remove = useFileDelete()
  const readOnly = useReadOnlyReason()
  const done = () => {
    say({ kind: 'done', text: own.removedNow(filename) })
    onGone()
  }
  return (
    <>
      <Button kind="plain" offBecause={readOnly} onClick={() => setAsked(true)}>
        {own.remove}
      </Button>
      {isAsked && (
        <AskBefore
          isDanger
          title={own.removeTitle(filename)}
          verb={own.removeVerb}
          action={remove}
          onClose={() => setAsked(false)}
          onConfirm={() => remove.mutate(id, { onSuccess: done })}
        >
          {own.removeText}
        </AskBefore>
      )}
    </>
  )
}
