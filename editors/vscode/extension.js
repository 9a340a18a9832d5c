// Starts `temblor lsp` for Temblor's files and hands everything on to it. All that the extension
// knows of the language itself stands in the grammar for colours.

const { commands, workspace } = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

let client;

function start() {
  const settings = workspace.getConfiguration('temblor');
  const path = settings.get('modulePath', []).flatMap((directory) => ['--path', directory]);
  const server = { command: settings.get('command', 'temblor'), args: ['lsp', ...path] };
  const documentSelector = [{ language: 'temblor' }, { language: 'logstash' }];
  const synchronize = {
    fileEvents: workspace.createFileSystemWatcher('**/*.{tmb,tremor,trickle,troy}'),
  };
  client = new LanguageClient('temblor', 'Temblor', server, { documentSelector, synchronize });
  return client.start();
}

async function activate(context) {
  const restart = async () => {
    await client?.stop();
    await start();
  };
  context.subscriptions.push(commands.registerCommand('temblor.restart', restart));
  context.subscriptions.push(
    workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('temblor')) {
        restart();
      }
    }),
  );
  await start();
}

function deactivate() {
  return client?.stop();
}

module.exports = { activate, deactivate };
