// The extension: starts the language server, and shows what it says. All completions come through LSP.
import * as vscode from "vscode";
import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  LanguageClientOptions,
  ServerOptions,
  State,
} from "vscode-languageclient/node";
import { Nothing, Status } from "./protocol";
import { serverEnvironment, serverProgram, serverSettings, settings } from "./program";
import { StatusBar } from "./status_bar";

const longestRestarts = 5;

class Extension {
  private client: LanguageClient | undefined;
  private readonly bar = new StatusBar();
  private readonly log = vscode.window.createOutputChannel("GLM Host", { log: true });
  private paused = false;
  private readonly pausedFiles = new Set<string>();
  private askedForDaemon = false;
  private restarts = 0;

  constructor(private readonly context: vscode.ExtensionContext) {
    const command = (name: string, run: () => unknown): void => {
      context.subscriptions.push(vscode.commands.registerCommand(name, run));
    };
    context.subscriptions.push(this.bar, this.log);
    command("glm.menu", () => this.menu());
    command("glm.trigger", () => vscode.commands.executeCommand("editor.action.inlineSuggest.trigger"));
    command("glm.acceptWord", () => vscode.commands.executeCommand("editor.action.inlineSuggest.acceptNextWord"));
    command("glm.acceptLine", () => vscode.commands.executeCommand("editor.action.inlineSuggest.acceptNextLine"));
    command("glm.acceptAll", () => vscode.commands.executeCommand("editor.action.inlineSuggest.commit"));
    command("glm.togglePause", () => this.pauseEverywhere());
    command("glm.togglePauseHere", () => this.pauseHere());
    command("glm.why", () => this.why());
    command("glm.startDaemon", () => this.client?.sendRequest("glm/startDaemon", {}));
    command("glm.restartServer", () => this.restart());
    command("glm.showLog", () => this.log.show());
    command("glm.walkthrough", () =>
      vscode.commands.executeCommand("workbench.action.openWalkthrough", `${context.extension.id}#start`, false),
    );
    context.subscriptions.push(
      vscode.workspace.onDidChangeConfiguration(async (event) => {
        if (!event.affectsConfiguration("glm")) return;
        if (event.affectsConfiguration("glm.serverPath") || event.affectsConfiguration("glm.hostHome")) {
          await this.restart();
        } else {
          await this.client?.sendNotification("workspace/didChangeConfiguration", { settings: { glm: serverSettings() } });
        }
      }),
    );
  }

  async start(): Promise<void> {
    const program = serverProgram(this.context);
    if (program === undefined) {
      const named = settings().get<string>("serverPath", "");
      this.bar.serverFailed(
        named === ""
          ? "This package holds no language server for this system. Set glm.serverPath to one."
          : `There is no file ${named} (the setting glm.serverPath).`,
      );
      return;
    }
    const run = { command: program, args: [], options: { env: serverEnvironment() } };
    const server: ServerOptions = { run, debug: run };
    const options: LanguageClientOptions = {
      documentSelector: [{ scheme: "file" }, { scheme: "untitled" }, { scheme: "vscode-notebook-cell" }],
      initializationOptions: serverSettings(),
      outputChannel: this.log,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue }),
        closed: () => this.serverClosed(),
      },
    };
    const client = new LanguageClient("glm", "GLM Host", server, options);
    this.client = client;
    client.registerProposedFeatures(); // ghost text is among these in this version of the library
    client.onNotification("glm/status", (status: Status) => this.statusChanged(status));
    client.onNotification("glm/nothing", (nothing: Nothing) => this.bar.setNothing(nothing));
    client.onDidChangeState((event) => {
      if (event.newState === State.Running) this.resumePauses(client);
    });
    try {
      await client.start();
    } catch (error) {
      this.bar.serverFailed(`The language server did not start: ${String(error)}`);
    }
  }

  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    await client?.dispose(2000).catch(() => undefined);
  }

  private serverClosed(): { action: CloseAction; handled: boolean } {
    this.restarts += 1;
    if (this.restarts <= longestRestarts) return { action: CloseAction.Restart, handled: true };
    this.bar.serverFailed("The language server ended several times; its log tells more. Restart it from this menu.");
    return { action: CloseAction.DoNotRestart, handled: true };
  }

  private async restart(): Promise<void> {
    this.restarts = 0;
    await this.stop();
    await this.start();
  }

  private resumePauses(client: LanguageClient): void {
    if (this.paused) void client.sendRequest("glm/pause", { paused: true });
    for (const uri of this.pausedFiles) void client.sendRequest("glm/pause", { paused: true, uri });
  }

  private statusChanged(status: Status): void {
    this.bar.setStatus(status);
    if (status.state === "ready") {
      this.restarts = 0;
      this.askedForDaemon = false;
    }
    if (status.state === "noDaemon") void this.offerToStart();
  }

  private async offerToStart(): Promise<void> {
    if (this.askedForDaemon || settings().get<string>("startDaemon", "ask") !== "ask") return;
    this.askedForDaemon = true;
    const start = "Start";
    const always = "Always Start It";
    const never = "Never";
    const answer = await vscode.window.showInformationMessage(
      "GLM Host's daemon, which runs the model on this machine, is not running.",
      start,
      always,
      never,
    );
    if (answer === always) await settings().update("startDaemon", "always", vscode.ConfigurationTarget.Global);
    if (answer === never) await settings().update("startDaemon", "never", vscode.ConfigurationTarget.Global);
    if (answer === start || answer === always) await this.client?.sendRequest("glm/startDaemon", {});
  }

  private async pauseEverywhere(): Promise<void> {
    this.paused = !this.paused;
    await this.client?.sendRequest("glm/pause", { paused: this.paused });
  }

  private async pauseHere(): Promise<void> {
    const uri = vscode.window.activeTextEditor?.document.uri.toString();
    if (uri === undefined || this.client === undefined) return;
    const known = this.client.code2ProtocolConverter.asUri(vscode.Uri.parse(uri));
    const pause = !this.pausedFiles.delete(known);
    if (pause) this.pausedFiles.add(known);
    await this.client.sendRequest("glm/pause", { paused: pause, uri: known });
  }

  private async why(): Promise<void> {
    const document = vscode.window.activeTextEditor?.document;
    const uri = document === undefined || this.client === undefined ? "" : this.client.code2ProtocolConverter.asUri(document.uri);
    const answer = await this.client?.sendRequest<{ reason: string }>("glm/why", { uri });
    const reason = answer?.reason ?? "The language server is not running.";
    await vscode.window.showInformationMessage(reason === "" ? "Nothing was asked for yet." : reason);
  }

  private async menu(): Promise<void> {
    const status = this.bar.current();
    const items: (vscode.QuickPickItem & { run: () => unknown })[] = [
      {
        label: status?.model ? `$(package) Model: ${status.model}` : "$(package) Model",
        description: "choose another",
        run: () => vscode.commands.executeCommand("workbench.action.openSettings", "glm.model"),
      },
      { label: "$(debug-pause) Pause or resume in this file", run: () => this.pauseHere() },
      { label: this.paused ? "$(play) Resume" : "$(debug-pause) Pause everywhere", run: () => this.pauseEverywhere() },
      { label: "$(question) Why is nothing shown?", run: () => this.why() },
      { label: "$(output) Log", run: () => this.log.show() },
      { label: "$(refresh) Restart the language server", run: () => this.restart() },
      {
        label: "$(gear) Settings",
        run: () => vscode.commands.executeCommand("workbench.action.openSettings", "@ext:glm-host.glm-host"),
      },
    ];
    if (status?.state === "noDaemon") {
      items.unshift({
        label: "$(play) Start the daemon",
        run: () => this.client?.sendRequest("glm/startDaemon", {}),
      });
    }
    const chosen = await vscode.window.showQuickPick(items, { title: "GLM Host" });
    await chosen?.run();
  }
}

let extension: Extension | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  extension = new Extension(context);
  await extension.start();
  if (context.globalState.get<boolean>("started") === true) return;
  await context.globalState.update("started", true);
  void offerFirstSteps();
}

// A page that opens by itself would take the keys of somebody who is typing.
async function offerFirstSteps(): Promise<void> {
  const show = "First Steps";
  const answer = await vscode.window.showInformationMessage(
    "GLM Host completes code with a model on this machine.",
    show,
  );
  if (answer === show) await vscode.commands.executeCommand("glm.walkthrough");
}

export async function deactivate(): Promise<void> {
  await extension?.stop();
}
