// The item in the status bar: the model, and what it is doing.
import * as vscode from "vscode";
import { Nothing, Status } from "./protocol";

export class StatusBar implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("glm.status", vscode.StatusBarAlignment.Right, 100);
  private status: Status | undefined;
  private nothing: Nothing | undefined;

  constructor() {
    this.item.name = "GLM Host";
    this.item.command = "glm.menu";
    this.show("$(loading~spin) GLM", "The language server is starting.");
    this.item.show();
  }

  current(): Status | undefined {
    return this.status;
  }

  serverFailed(sentence: string): void {
    this.status = undefined;
    this.show("$(error) GLM", sentence);
  }

  setStatus(status: Status): void {
    this.status = status;
    this.render();
  }

  setNothing(nothing: Nothing): void {
    this.nothing = nothing;
    this.render();
  }

  private render(): void {
    const status = this.status;
    if (status === undefined) return;
    const model = status.model === "" ? "the default model" : status.model;
    switch (status.state) {
      case "ready": {
        const speed = status.tokensPerSecond > 0 ? `, ${status.tokensPerSecond} tokens a second` : "";
        const queue = `${status.queue.running} requests running, ${status.queue.waiting} waiting`;
        const last = this.nothing === undefined ? "" : `\n\nThe last time nothing was shown: ${this.nothing.reason}`;
        return this.show("$(sparkle) GLM", `${model}${speed}; ${queue}.${last}`);
      }
      case "idle":
        return this.show("$(sparkle) GLM", status.message);
      case "loading":
        return this.show(`$(loading~spin) GLM ${status.loadPercent} %`, `${model} is being loaded.`);
      case "noDaemon":
        return this.show("$(debug-disconnect) GLM", `No daemon answers. ${status.message}`);
      case "failed":
        return this.show("$(error) GLM", status.message);
      case "paused":
        return this.show("$(debug-pause) GLM", "Completions are paused.");
      case "off":
        return this.show("$(circle-slash) GLM", "Completions are turned off by the setting glm.enabled.");
      case "starting":
        return this.show("$(loading~spin) GLM", "Looking for the daemon.");
    }
  }

  private show(text: string, tooltip: string): void {
    this.item.text = text;
    this.item.tooltip = tooltip;
  }

  dispose(): void {
    this.item.dispose();
  }
}
