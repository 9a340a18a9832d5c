//! The conversation with the editor: which message is answered by what. A request that goes wrong is
//! answered with an error, and a bug in one answer ends neither the conversation nor the texts.

use super::analysis::Dialect;
use super::place::path_of;
use super::workspace::Workspace;
use super::{DOCUMENT_BYTES_MAX, configuration, outline, token};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, Response};
use lsp_types::{self as lsp, Position, Range, TextDocumentPositionParams, TextEdit, Uri};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use temblor_lang::syntax::{TextKind, format};
use temblor_pipeline::load::Language;

/// Why a request has no answer.
struct Refusal {
    code: ErrorCode,
    reason: String,
}

impl Refusal {
    fn new(code: ErrorCode, reason: impl Into<String>) -> Self {
        Self { code, reason: reason.into() }
    }
}

type Answer = Result<Value, Refusal>;

/// Speaks with an editor over standard input and output until it says `exit`. Modules are searched
/// in `path`, too. The value says whether the editor said goodbye as it should.
///
/// # Errors
/// A sentence, when the editor does not follow the protocol.
pub fn serve(path: Vec<PathBuf>) -> Result<(), String> {
    let conversation = super::wire::open();
    let connection = &conversation.connection;
    let (id, params) = match connection.initialize_start() {
        Ok(started) => started,
        Err(error) => {
            let left = error.channel_is_disconnected();
            let reason =
                if left { "the editor left before `initialize`" } else { &error.to_string() };
            return conversation.end().and(Err(reason.to_string()));
        }
    };
    let mut server = Server::new(path, &params);
    let result = json!({
        "capabilities": capabilities(),
        "serverInfo": {"name": "temblor", "version": env!("CARGO_PKG_VERSION")},
    });
    connection.initialize_finish(id, result).map_err(|error| error.to_string())?;
    let result = server.converse(connection);
    result.and(conversation.end())
}

fn capabilities() -> Value {
    json!({
        "positionEncoding": "utf-16",
        "textDocumentSync": {"openClose": true, "change": 2, "save": false},
        "completionProvider": {"triggerCharacters": [":", ".", "$", "~", ">", "{", "/"]},
        "hoverProvider": true,
        "signatureHelpProvider": {"triggerCharacters": ["(", ","]},
        "definitionProvider": true,
        "referencesProvider": true,
        "documentHighlightProvider": true,
        "renameProvider": {"prepareProvider": true},
        "documentFormattingProvider": true,
        "documentSymbolProvider": true,
        "foldingRangeProvider": true,
        "codeActionProvider": {"codeActionKinds": ["quickfix"]},
        "semanticTokensProvider": {"legend": token::legend(), "full": true},
        "workspace": {"workspaceFolders": {"supported": true}},
    })
}

struct Server {
    workspace: Workspace,
    /// Whether the editor has said that it is about to leave.
    is_over: bool,
}

impl Server {
    fn new(path: Vec<PathBuf>, params: &Value) -> Self {
        let folder = |value: &Value| path_of(&value.as_str()?.parse().ok()?);
        let listed = params["workspaceFolders"].as_array();
        let mut folders: Vec<_> =
            listed.into_iter().flatten().filter_map(|one| folder(&one["uri"])).collect();
        if folders.is_empty() {
            folders.extend(folder(&params["rootUri"]));
        }
        Self { workspace: Workspace::new(folders, path), is_over: false }
    }

    fn converse(&mut self, connection: &Connection) -> Result<(), String> {
        while let Ok(message) = connection.receiver.recv() {
            match message {
                Message::Request(request) => {
                    let response = self.respond(request);
                    // The editor is gone when nobody takes the answer.
                    let _ = connection.sender.send(response.into());
                }
                Message::Notification(notification) if notification.method == "exit" => {
                    let unannounced = || Err("the editor left without `shutdown`".to_string());
                    return if self.is_over { Ok(()) } else { unannounced() };
                }
                Message::Notification(notification) => self.note(connection, notification),
                Message::Response(_) => {}
            }
            // While more is waiting, what is wrong now may be right already.
            if connection.receiver.is_empty() {
                self.publish(connection);
            }
        }
        if self.is_over { Ok(()) } else { Err("the editor left without `exit`".to_string()) }
    }

    fn respond(&mut self, request: Request) -> Response {
        let id = request.id.clone();
        let answer = catch_unwind(AssertUnwindSafe(|| self.answer(request)));
        let bug = || {
            let reason = "temblor itself has a bug: the message is on standard error";
            Err(Refusal::new(ErrorCode::InternalError, reason))
        };
        match answer.unwrap_or_else(|_| bug()) {
            Ok(value) => Response::new_ok(id, value),
            Err(refusal) => Response::new_err(id, refusal.code as i32, refusal.reason),
        }
    }

    fn answer(&mut self, request: Request) -> Answer {
        let Request { method, params, .. } = request;
        if self.is_over {
            let reason = "nothing is answered behind `shutdown`";
            return Err(Refusal::new(ErrorCode::InvalidRequest, reason));
        }
        if method == "shutdown" {
            self.is_over = true;
            return Ok(Value::Null);
        }
        let about_text = self.about_text(&method, &params);
        about_text.or_else(|| self.about_place(&method, &params)).unwrap_or_else(|| {
            Err(Refusal::new(ErrorCode::MethodNotFound, format!("`{method}` is not known")))
        })
    }

    /// The answer to a question about a place; `None` when the method is none.
    fn about_place(&self, method: &str, params: &Value) -> Option<Answer> {
        Some(match method {
            "textDocument/completion" => {
                self.at(params, |workspace, uri, offset| Ok(workspace.complete(uri, offset)))
            }
            "textDocument/hover" => {
                self.at(params, |workspace, uri, offset| Ok(workspace.hover(uri, offset)))
            }
            "textDocument/signatureHelp" => {
                self.at(params, |workspace, uri, offset| Ok(workspace.signature(uri, offset)))
            }
            "textDocument/definition" => {
                self.at(params, |workspace, uri, offset| Ok(workspace.definition(uri, offset)))
            }
            "textDocument/references" => {
                let all = params["context"]["includeDeclaration"].as_bool().unwrap_or(true);
                self.at(params, |workspace, uri, offset| Ok(workspace.references(uri, offset, all)))
            }
            "textDocument/documentHighlight" => {
                self.at(params, |workspace, uri, offset| Ok(workspace.highlights(uri, offset)))
            }
            "textDocument/prepareRename" => self.at(params, |workspace, uri, offset| {
                let (definition, range) = workspace.renameable(uri, offset).map_err(refused)?;
                Ok(json!({"range": range, "placeholder": definition.get().name}))
            }),
            "textDocument/rename" => self.at(params, |workspace, uri, offset| {
                let name: String = read(params["newName"].clone())?;
                let changes = workspace.rename(uri, offset, &name).map_err(refused)?;
                Ok(json!({"changes": changes}))
            }),
            _ => return None,
        })
    }

    /// The answer to a question about a whole text; `None` when the method is none.
    fn about_text(&self, method: &str, params: &Value) -> Option<Answer> {
        Some(match method {
            "textDocument/formatting" => self.of(params, |_, _, document| formatting(document)),
            "textDocument/documentSymbol" => self.of(params, |_, _, document| {
                Ok(match document.dialect {
                    Dialect::Program(_) => outline::symbols(&document.analysis),
                    Dialect::Logstash => configuration::symbols(&document.analysis),
                })
            }),
            "textDocument/foldingRange" => self.of(params, |_, _, document| {
                Ok(match document.dialect {
                    Dialect::Program(_) => outline::folds(&document.analysis),
                    Dialect::Logstash => configuration::folds(&document.analysis),
                })
            }),
            "textDocument/semanticTokens/full" => self.of(params, |_, _, document| {
                let is_program = matches!(document.dialect, Dialect::Program(_));
                let is_small = document.analysis.text.len() <= DOCUMENT_BYTES_MAX;
                let data = match is_program && is_small {
                    true => token::tokens(&document.analysis),
                    false => Vec::new(),
                };
                Ok(lsp::SemanticTokens { result_id: None, data })
            }),
            "textDocument/codeAction" => self.of(params, |workspace, uri, _| {
                let range: Range = read(params["range"].clone())?;
                Ok(workspace.fixes(uri, range))
            }),
            _ => return None,
        })
    }

    /// Answers a request about a place of an open text.
    fn at<T: Serialize>(
        &self,
        params: &Value,
        answer: impl FnOnce(&Workspace, &Uri, usize) -> Result<T, Refusal>,
    ) -> Answer {
        let TextDocumentPositionParams { text_document, position } = read(params.clone())?;
        let uri = text_document.uri;
        let Some(document) = self.workspace.document(&uri) else { return Err(not_open(&uri)) };
        let analysis = &document.analysis;
        let offset = analysis.lines.offset(&analysis.text, position);
        write(answer(&self.workspace, &uri, offset)?)
    }

    /// Answers a request about a whole text.
    fn of<T: Serialize>(
        &self,
        params: &Value,
        answer: impl FnOnce(&Workspace, &Uri, &super::workspace::Document) -> Result<T, Refusal>,
    ) -> Answer {
        let uri: Uri = read(params["textDocument"]["uri"].clone())?;
        let Some(document) = self.workspace.document(&uri) else { return Err(not_open(&uri)) };
        write(answer(&self.workspace, &uri, document)?)
    }

    fn note(&mut self, connection: &Connection, notification: Notification) {
        let params = notification.params;
        match notification.method.as_str() {
            "textDocument/didOpen" => {
                if let Ok(lsp::DidOpenTextDocumentParams { text_document: one }) = read(params) {
                    self.workspace.open(&one.uri, &one.language_id, one.version, one.text);
                }
            }
            "textDocument/didChange" => {
                if let Ok(lsp::DidChangeTextDocumentParams { text_document, content_changes }) =
                    read(params)
                {
                    let lsp::VersionedTextDocumentIdentifier { uri, version } = text_document;
                    self.workspace.change(&uri, version, content_changes);
                }
            }
            "textDocument/didClose" => {
                if let Ok(lsp::DidCloseTextDocumentParams { text_document }) = read(params) {
                    self.workspace.close(&text_document.uri);
                    tell(connection, &text_document.uri, None, Vec::new());
                }
            }
            "workspace/didChangeWorkspaceFolders" => {
                if let Ok(lsp::DidChangeWorkspaceFoldersParams { event }) = read(params) {
                    let path = |one: &lsp::WorkspaceFolder| path_of(&one.uri);
                    let gone: Vec<_> = event.removed.iter().filter_map(path).collect();
                    self.workspace.folders.retain(|folder| !gone.contains(folder));
                    self.workspace.folders.extend(event.added.iter().filter_map(path));
                }
            }
            // A file that is used as a module may have changed.
            "workspace/didChangeWatchedFiles" | "textDocument/didSave" => self.workspace.touch(),
            _ => {}
        }
    }

    /// Tells what is wrong with the texts that changed.
    fn publish(&mut self, connection: &Connection) {
        let dirty: Vec<Uri> = self
            .workspace
            .documents
            .iter()
            .filter(|(_, document)| document.is_dirty)
            .filter_map(|(uri, _)| uri.parse().ok())
            .collect();
        for uri in dirty {
            let found = catch_unwind(AssertUnwindSafe(|| self.workspace.problems(&uri)));
            let Some(document) = self.workspace.documents.get_mut(uri.as_str()) else { continue };
            document.is_dirty = false;
            tell(connection, &uri, Some(document.version), found.unwrap_or_default());
        }
    }
}

fn tell(connection: &Connection, uri: &Uri, version: Option<i32>, found: Vec<lsp::Diagnostic>) {
    let params = lsp::PublishDiagnosticsParams::new(uri.clone(), found, version);
    let method = "textDocument/publishDiagnostics".to_string();
    // The editor is gone when nobody takes the message.
    let _ = connection.sender.send(Notification::new(method, params).into());
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, Refusal> {
    serde_json::from_value(params)
        .map_err(|error| Refusal::new(ErrorCode::InvalidParams, error.to_string()))
}

fn write(answer: impl Serialize) -> Answer {
    serde_json::to_value(answer)
        .map_err(|error| Refusal::new(ErrorCode::InternalError, error.to_string()))
}

fn not_open(uri: &Uri) -> Refusal {
    Refusal::new(ErrorCode::InvalidParams, format!("{} is not open", uri.as_str()))
}

fn refused(reason: String) -> Refusal {
    Refusal::new(ErrorCode::RequestFailed, reason)
}

/// The edit that brings a text into the one style; none when it is, or has errors.
fn formatting(document: &super::workspace::Document) -> Result<Vec<TextEdit>, Refusal> {
    let analysis = &document.analysis;
    let kind = match document.dialect {
        Dialect::Program(Language::Script) => TextKind::Script,
        Dialect::Program(Language::Query) => TextKind::Query,
        Dialect::Program(Language::Deploy) => TextKind::Deploy,
        Dialect::Program(Language::Temblor) => TextKind::Program,
        Dialect::Logstash => return Ok(Vec::new()),
    };
    if analysis.text.len() > DOCUMENT_BYTES_MAX {
        return Ok(Vec::new());
    }
    let formatted = format(&analysis.text, kind).map_err(|found| {
        let reason = found.first().map_or("", |one| one.message.as_str());
        refused(format!("a text with errors is not formatted: {reason}"))
    })?;
    if formatted == analysis.text {
        return Ok(Vec::new());
    }
    let end = analysis.lines.position(&analysis.text, analysis.text.len());
    Ok(vec![TextEdit::new(Range::new(Position::default(), end), formatted)])
}
