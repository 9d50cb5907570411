/** The files of the workspace: dropped or chosen, they are uploaded. */
import { useInfiniteQuery } from '@tanstack/react-query'
import { Button } from '../../components/button.tsx'
import { DropPlace, FilesButton } from '../../components/drop-place.tsx'
import { Time } from '../../components/figures.tsx'
import { Scroll } from '../../components/layout.tsx'
import { Empty } from '../../components/notices.tsx'
import { Page } from '../../components/page.tsx'
import { RecordLink } from '../../components/record-link.tsx'
import { RecordTable } from '../../components/record-table.tsx'
import type { TableColumn } from '../../components/table.tsx'
import { UploadLine } from '../../components/upload-line.tsx'
import type { FileMetadata } from '../../lib/api/types.ts'
import { formatBytes } from '../../lib/format/numbers.ts'
import { listStateOf } from '../../lib/list-state.ts'
import { useReadOnlyReason } from '../../lib/rights.ts'
import { filesQuery } from './files.ts'
import type { FileOnItsWay } from './uploads.ts'
import { useUploads } from './uploads.ts'
import { fileWords as own } from './words.ts'

const columns: readonly TableColumn<FileMetadata>[] = [
  {
    name: own.columns.name,
    isStrong: true,
    show: ({ id, filename }) => (
      <RecordLink to="/files/$fileId" params={{ fileId: id }}>
        {filename}
      </RecordLink>
    ),
  },
  { name: own.columns.type, width: 220, from: 'split', show: ({ mime_type }) => mime_type },
  {
    name: own.columns.scope,
    width: 150,
    from: 'drawer',
    show: ({ scope }) =>
      scope ? (
        <RecordLink to="/sessions/$sessionId" params={{ sessionId: scope.id }}>
          {own.session}
        </RecordLink>
      ) : (
        own.workspace
      ),
  },
  {
    name: own.columns.size,
    width: 90,
    isNumber: true,
    show: ({ size_bytes }) => formatBytes(size_bytes),
  },
  {
    name: own.columns.made,
    width: 90,
    isNumber: true,
    from: 'phone',
    show: ({ created_at }) => <Time at={created_at} />,
  },
]

export function FilesPage({ onOpen }: { onOpen: (file: FileMetadata) => void }) {
  const query = useInfiniteQuery(filesQuery)
  const { uploads, add } = useUploads()
  const readOnly = useReadOnlyReason()
  return (
    <Page
      title={own.title}
      actions={
        <FilesButton offBecause={readOnly} onFiles={add}>
          {own.upload}
        </FilesButton>
      }
    >
      <DropPlace hint={own.drop} offBecause={readOnly} onFiles={add}>
        {uploads.map((upload) => (
          <OneUpload key={upload.id} upload={upload} onAgain={add} />
        ))}
        <Scroll>
          <RecordTable
            label={own.title}
            list={listStateOf(query)}
            keyOf={({ id }) => id}
            columns={columns}
            onOpen={onOpen}
            empty={
              <Empty
                request={`import { createReadStream } from 'node:fs'\n\nawait client.beta.files.upload({ file: createReadStream('report.csv') })`}
              >
                {own.none}
              </Empty>
            }
          />
        </Scroll>
      </DropPlace>
    </Page>
  )
}

type OneUploadProps = { upload: FileOnItsWay; onAgain: (files: readonly File[]) => void }

function OneUpload({ upload: { file, fraction, problem, cancel }, onAgain }: OneUploadProps) {
  const again = () => {
    cancel()
    onAgain([file])
  }
  return (
    <UploadLine
      name={file.name}
      fraction={fraction}
      problem={problem}
      actions={
        <>
          {problem !== undefined && (
            <Button size="small" onClick={again}>
              {own.again}
            </Button>
          )}
          <Button size="small" kind="plain" onClick={cancel}>
            {problem === undefined ? own.cancel : own.dismiss}
          </Button>
        </>
      }
    />
  )
}
