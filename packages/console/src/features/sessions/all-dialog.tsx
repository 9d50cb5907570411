/** What can be done with all sessions of the filter: their number comes first. */
import { useState } from 'react'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Problem, Quiet, Row, Stack } from '../../components/layout.tsx'
import { saveFile } from '../../lib/clipboard.ts'
import type { ChosenFilters } from '../../lib/filters.ts'
import { formatCount } from '../../lib/format/numbers.ts'
import { useReadOnlyReason } from '../../lib/rights.ts'
import { say } from '../../lib/toasts.ts'
import { words } from '../../lib/words.ts'
import { csvOf, mostSessions, useAllSessions, useArchiveAll } from './all-sessions.ts'

const { all: own } = words.sessions

type AllDialogProps = { filters: ChosenFilters; onClose: () => void }

export function AllDialog({ filters, onClose }: AllDialogProps) {
  const { data: sessions, error } = useAllSessions(filters)
  const archive = useArchiveAll()
  const readOnly = useReadOnlyReason()
  const open = sessions?.filter(({ archived_at: at }) => at === null) ?? []
  const none = sessions ? (open.length === 0 ? own.noneOpen : undefined) : own.counting
  const off = sessions ? undefined : own.counting
  const done = () => {
    say({ kind: 'done', text: own.archivedAll(formatCount(open.length)) })
    onClose()
  }
  const save = (text: string, name: string, type: string) =>
    saveFile(new Blob([text], { type }), name)
  return (
    <Dialog
      title={own.title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{words.close}</Button>
          <ArchiveButton
            count={formatCount(open.length)}
            isBusy={archive.isPending}
            offBecause={readOnly ?? none}
            onSure={() => archive.mutate(open, { onSuccess: done })}
          />
        </>
      }
    >
      <Stack>
        <Problem text={error?.message ?? archive.error?.message}>
          {sessions ? own.count(formatCount(sessions.length)) : own.counting}
        </Problem>
        {sessions && sessions.length >= mostSessions && <Quiet>{own.first}</Quiet>}
        {archive.isPending && <Quiet>{own.archived(archive.done, open.length)}</Quiet>}
        <Row>
          <Button
            offBecause={off}
            onClick={() => save(csvOf(sessions ?? []), 'sessions.csv', 'text/csv')}
          >
            {own.csv}
          </Button>
          <Button
            offBecause={off}
            onClick={() =>
              save(JSON.stringify(sessions, null, 2), 'sessions.json', 'application/json')
            }
          >
            {own.json}
          </Button>
        </Row>
        <Quiet isSmall>{own.archiveHint}</Quiet>
      </Stack>
    </Dialog>
  )
}

/** The first press asks, the second does it. */
function ArchiveButton({
  count,
  isBusy,
  offBecause,
  onSure,
}: {
  count: string
  isBusy: boolean
  offBecause: string | undefined
  onSure: () => void
}) {
  const [isAsked, setAsked] = useState(false)
  return (
    <Button
      kind={isAsked ? 'danger' : 'normal'}
      isBusy={isBusy}
      offBecause={offBecause}
      onClick={() => (isAsked ? onSure() : setAsked(true))}
    >
      {isAsked ? own.archiveSure(count) : own.archive(count)}
    </Button>
  )
}
