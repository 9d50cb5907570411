/** What else can be done with a session: copy it in a form, fork it, rename it, archive it. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { AskBefore } from '../../components/ask-before.tsx'
import { IconMore } from '../../components/icons.tsx'
import type { MenuItem } from '../../components/menu.tsx'
import { Menu } from '../../components/menu.tsx'
import { api, dataOf } from '../../lib/api/client.ts'
import type { Session } from '../../lib/api/types.ts'
import { copyText } from '../../lib/clipboard.ts'
import { serviceUrl } from '../../lib/place.ts'
import { useReadOnlyReason } from '../../lib/rights.ts'
import { say } from '../../lib/toasts.ts'
import { words } from '../../lib/words.ts'
import { markdownOf } from './markdown-of.ts'
import { readWholeLog, sessionQuery, summaryQuery } from './session.ts'

const { menu: own } = words.session

const RenameDialog = lazy(async () => ({
  default: (await import('./rename-dialog.tsx')).RenameDialog,
}))

type SessionMenuProps = { session: Session; title: string; onFork: () => void }

const copied = (text: string) => async () => {
  await copyText(text)
  say({ kind: 'done', text: own.copied })
}

export function SessionMenu({ session, title, onFork }: SessionMenuProps) {
  const [shown, setShown] = useState<'archive' | 'rename'>()
  const readOnly = useReadOnlyReason()
  const archive = useArchive(session.id)
  const off = readOnly === undefined ? {} : { offBecause: readOnly }
  const address = `${serviceUrl}/v1/sessions/${session.id}`
  const copy = (run: () => Promise<void>) => () =>
    void run().catch((error: unknown) =>
      say({ kind: 'failed', text: error instanceof Error ? error.message : String(error) }),
    )
  const items: MenuItem[] = [
    { label: own.link, run: copy(copied(location.href)) },
    {
      label: own.markdown,
      run: copy(async () => copied(markdownOf(title, await readWholeLog(session.id)))()),
    },
    {
      label: own.json,
      run: copy(async () => copied(JSON.stringify(await readWholeLog(session.id), null, 2))()),
    },
    {
      label: own.curl,
      run: copy(copied(`curl '${address}/events' -H "x-api-key: $STEWARD_API_KEY"`)),
    },
    {
      label: own.client,
      run: copy(
        copied(
          `for await (const event of client.beta.sessions.events.list('${session.id}')) console.log(event)`,
        ),
      ),
    },
    'line',
    { label: own.rename, ...off, run: () => setShown('rename') },
    { label: own.fork, ...off, run: onFork },
    ...(session.archived_at === null
      ? [{ label: own.archive, isDanger: true, ...off, run: () => setShown('archive') } as const]
      : []),
  ]
  const close = () => setShown(undefined)
  return (
    <>
      <Menu label={own.more} trigger={<IconMore />} look="icon" items={items} />
      <Suspense>
        {shown === 'rename' && <RenameDialog session={session} title={title} onClose={close} />}
        {shown === 'archive' && (
          <AskBefore
            title={own.archiveTitle}
            verb={own.archive}
            isDanger
            action={archive}
            onConfirm={() => archive.mutate(undefined, { onSuccess: close })}
            onClose={close}
          >
            {own.archiveText}
          </AskBefore>
        )}
      </Suspense>
    </>
  )
}

function useArchive(id: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: () => dataOf(api.POST('/v1/sessions/{id}/archive', { params: { path: { id } } })),
    onSuccess: () => {
      void client.invalidateQueries(sessionQuery(id))
      void client.invalidateQueries(summaryQuery(id))
      void client.invalidateQueries({ queryKey: ['sessions', 'list'] })
    },
  })
}
