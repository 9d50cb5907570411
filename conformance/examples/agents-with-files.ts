/** Files that a session starts with, a file that is added later, and files that the agent makes for people. */
import type Anthropic from '@anthropic-ai/sdk'
import { toFile } from '@anthropic-ai/sdk'
import { answerOf, message, model, toolset, turn } from './turn.ts'

export async function agentsWithFiles(client: Anthropic) {
  const { beta, files } = client
  const upload = async (name: string, text: string) =>
    files.upload({ file: await toFile(Buffer.from(text), name) })
  const [table, receipt, log] = await Promise.all([
    upload('data.csv', 'month,total\nMay,7\n'),
    upload('receipt.pdf', '%PDF-1.4\n'),
    upload('a.log', 'first line\n'),
  ])
  const environment = await beta.environments.create({
    name: 'files-environment',
    config: { type: 'cloud', networking: { type: 'unrestricted' } },
  })
  const agent = await beta.agents.create({ name: 'Reader of files', model, tools: [toolset] })
  const session = await beta.sessions.create({
    environment_id: environment.id,
    agent: agent.id,
    resources: [
      { type: 'file', file_id: table.id, mount_path: 'data.csv' },
      { type: 'file', file_id: receipt.id, mount_path: '/uploads/receipt.pdf' },
    ],
  })
  const ask = async (text: string) =>
    answerOf(await Array.fromAsync(turn(client, session.id, message(text))))
  const uploads = '/mnt/session/uploads'
  const first = await ask(
    `run: tail -1 ${uploads}/data.csv; head -c 5 ${uploads}/uploads/receipt.pdf`,
  )
  const added = await beta.sessions.resources.add(session.id, {
    ...{ type: 'file', file_id: log.id, mount_path: '/workspace/logs/a.log' },
  })
  const later = await ask(
    `run: cat logs/a.log ${uploads}/workspace/logs/a.log; cp logs/a.log /mnt/session/outputs/b.log`,
  )
  const { data: own } = await beta.files.list({ scope_id: session.id })
  const made = own.find(({ filename }) => filename === 'b.log')
  const output = made && (await (await files.download(made.id)).text())
  await beta.sessions.resources.delete(added.id, { session_id: session.id })
  const { resources } = await beta.sessions.retrieve(session.id)
  await beta.sessions.delete(session.id)
  await beta.agents.archive(agent.id)
  await beta.environments.delete(environment.id)
  for (const { id } of [table, receipt, log]) await files.delete(id)
  const paths = resources.map((each) => (each.type === 'file' ? each.mount_path : each.type))
  return { first, later, output, paths }
}
